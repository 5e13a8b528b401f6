"""The server as a child process, spoken to line by line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


class Wire:
    """One server and its three streams."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.pid = process.pid
        self._next = 0

    def send(self, method: str, params: Any = None) -> int:
        """Send a request; its id."""
        self._next += 1
        self._write({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params or {}})
        return self._next

    def notify(self, method: str, params: Any = None) -> None:
        self._write({"jsonrpc": "2.0", "method": method, "params": params or {}})

    def raw(self, line: bytes) -> None:
        stdin = self.process.stdin
        assert stdin is not None
        stdin.write(line)
        stdin.flush()

    def _write(self, message: Any) -> None:
        self.raw(json.dumps(message).encode() + b"\n")

    def lines(self) -> Iterator[dict[str, Any]]:
        """Every message, until standard output ends. Anything that is no JSON fails the test."""
        stdout = self.process.stdout
        assert stdout is not None
        for line in stdout:
            yield json.loads(line)

    def answer(self, request: int) -> dict[str, Any]:
        """The response to a request."""
        return next(message for message in self.lines() if message.get("id") == request and "method" not in message)

    def initialize(self) -> Any:
        """The result of the handshake."""
        answer = self.answer(self.send("initialize", INITIALIZE))
        self.notify("notifications/initialized")
        return answer["result"]

    def call(self, tool: str, **arguments: Any) -> Any:
        """The result of a tool."""
        return self.answer(self.send("tools/call", {"name": tool, "arguments": arguments}))["result"]

    def end_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def finish(self, seconds: float = 20) -> tuple[int, bytes, bytes]:
        """Status, what was left on standard output, standard error; after the process ended."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        out, err = self.process.stdout.read(), self.process.stderr.read()
        return self.process.wait(seconds), out, err


@contextmanager
def serving(
    arguments: Sequence[str],
    *,
    python: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Iterator[Wire]:
    process = subprocess.Popen(
        [sys.executable, *python, "-m", "runtape_mcp", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(environment or {})},
        cwd=cwd,
    )
    try:
        yield Wire(process)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(20)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
