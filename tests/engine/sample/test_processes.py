"""What has to hold between processes, with real ones."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from pathlib import Path

import pytest
from loopback import Answer, Loopback

SCRIPT = Path(__file__).with_name("drawing_process.py")


def start(folder: Path, server: Loopback, lease: float) -> subprocess.Popen[str]:
    command = [sys.executable, str(SCRIPT), str(folder), server.root, str(lease)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out


def counting() -> Loopback:
    numbers = itertools.count()
    return Loopback(lambda _: Answer({"answer": next(numbers)}), latency=0.02)


def test_two_processes_with_the_same_samples_pay_for_each_once(tmp_path: Path) -> None:
    with counting() as server:
        both = [start(tmp_path, server, 60.0) for _ in range(2)]
        first, second = (finish(process) for process in both)
    assert first == second
    assert len(server.requests) == 24


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
@pytest.mark.parametrize("after", [1, 7, 19])
def test_a_killed_process_loses_only_what_was_on_its_way(tmp_path: Path, after: int) -> None:
    with counting() as server:
        killed = start(tmp_path, server, 0.3)
        deadline = time.monotonic() + 30
        while len(server.requests) < after and time.monotonic() < deadline:
            time.sleep(0.002)
        killed.kill()
        killed.communicate()
        finish(start(tmp_path, server, 0.3))
        assert 24 <= len(server.requests) <= 24 + 4, "paid again: at most the four that were in flight"
        again = len(server.requests)
        finish(start(tmp_path, server, 0.3))
        assert len(server.requests) == again
