"""A `why` that is killed at any moment loses nothing that was acknowledged, and repeated it comes to the same claims."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from loopback import Answer, Loopback, Received

EXAMPLES = Path(__file__).parent.parent / "examples"
CONCURRENCY = 4


@pytest.fixture(scope="module")
def trace(inbox_folder: Path) -> Path:
    return next((inbox_folder / "traces").glob("*.jsonl"))


@pytest.fixture(scope="module")
def stand_in():
    sys.path.insert(0, str(EXAMPLES))
    from stand_in_server import completion
    from stand_ins import inbox

    yield lambda received: Answer(completion(received.body, inbox(received.body)))
    sys.path.remove(str(EXAMPLES))


def start(trace: Path, server: Loopback, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "runtape.cli", "why", str(trace), "tool:forward_email", "--json"]
    command += ["--base-url", server.url, "--concurrency", str(CONCURRENCY)]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, text=True, env={**os.environ, "OPENAI_API_KEY": "k"}
    )


def finish(process: subprocess.Popen[str]) -> dict[str, object]:
    out, _ = process.communicate(timeout=100)
    assert process.returncode == 0
    return json.loads(out)


@pytest.fixture(scope="module")
def whole(trace: Path, stand_in, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The report of a search that nobody disturbed."""
    with Loopback(stand_in) as server:
        return finish(start(trace, server, tmp_path_factory.mktemp("whole")))


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
@pytest.mark.parametrize("moment", [1, 2, 12, 28])
def test_killed_and_repeated(trace: Path, stand_in, whole: dict[str, object], tmp_path: Path, moment: int) -> None:
    reached = threading.Event()

    def counted(received: Received) -> Answer:
        if received.index + 1 >= moment:
            reached.set()
        return stand_in(received)

    with Loopback(counted) as server:
        process = start(trace, server, tmp_path)
        assert reached.wait(100)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        resumed = finish(start(trace, server, tmp_path))
        repeated = finish(start(trace, server, tmp_path))

    assert resumed["causes"] == whole["causes"]
    assert resumed["calls"] + resumed["reused"] == whole["calls"]
    assert len(server.requests) <= whole["requests"] + CONCURRENCY
    assert repeated["calls"] == 0
    assert repeated["causes"] == whole["causes"]
