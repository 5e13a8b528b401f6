"""The public package `runtape` 0.5.0, in an environment of its own, asking at the same desk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from .cases import Answer, Case
from .methods import Method
from .models import Desk

PUBLIC = "runtape==0.5.0"
WORKER = Path(__file__).with_name("public_worker.py")


def peer_python(given: str | None, where: Path) -> str:
    """An interpreter that has the public package: the one given, or one that is made in a folder."""
    if given:
        return str(Path(given).absolute())
    subprocess.run([sys.executable, "-m", "venv", str(where)], check=True)
    python = str(where / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", PUBLIC, "openai"], check=True)
    return python


@contextmanager
def peer(python: str) -> Generator[Method, None, None]:
    """Its `why` with its defaults as a method; one process for all cases. Not for several threads at once.

    Raises:
        RuntimeError: the process ended; what it wrote on standard error says why.
    """
    environment = {**os.environ, "OPENAI_API_KEY": os.environ.get("OPENAI_API_KEY", "k")}
    # Isolated, so that no folder of this project is on its path.
    with subprocess.Popen(
        [python, "-I", str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdin
        assert process.stdout
        try:
            yield _method(process.stdin, process.stdout)
        finally:
            process.stdin.close()


def _method(to: IO[str], came: IO[str]) -> Method:
    def tell(message: dict[str, Any]) -> dict[str, Any]:
        to.write(json.dumps(message) + "\n")
        to.flush()
        line = came.readline()
        if not line:
            raise RuntimeError(f"the process of {PUBLIC} ended; see its standard error")
        heard: dict[str, Any] = json.loads(line)
        return heard

    def method(case: Case, desk: Desk) -> Answer:
        heard = tell(
            {
                "trace": str(case.trace),
                "event": case.event,
                "decision": dict(case.decision),
                "many": desk.most > 1,
                "upstream": case.upstream,
            }
        )
        while "ask" in heard:
            heard = tell({"said": desk.said(_with_system(heard["ask"]), heard["n"])})
        claims = tuple(tuple(claim) for claim in heard["answer"]["claims"])
        return Answer(tuple(heard["answer"]["headline"]), claims, note=heard["answer"]["note"])

    return method


def _with_system(asked: dict[str, Any]) -> dict[str, Any]:
    """The same request whether or not the system prompt was taken out of the messages."""
    messages = asked["messages"]
    if asked["system"] and not any(message.get("role") == "system" for message in messages):
        messages = [{"role": "system", "content": asked["system"]}, *messages]
    return {**asked, "messages": messages}
