"""What has to hold between processes, with real ones."""

from __future__ import annotations

import itertools
import sqlite3
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
    return out.splitlines()[-1]


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


IN_FLIGHT = 4


def kept(folder: Path) -> set[str]:
    """The answers in a cache whose process is gone."""
    db = sqlite3.connect(folder / "replies.sqlite")
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    found = {raw for (raw,) in db.execute("SELECT json_extract(answer, '$.raw') FROM replies")}
    db.close()
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
def test_killed_again_and_again_nothing_acknowledged_is_lost_or_paid_twice(tmp_path: Path) -> None:
    before: set[str] = set()
    with counting() as server:
        for _ in range(10):
            asked = len(server.requests)
            process = start(tmp_path, server, 0.2)
            assert process.stdout is not None
            told = [process.stdout.readline() for _ in range(1)]
            process.kill()
            told += process.stdout.read().splitlines(keepends=True)
            process.communicate()
            after = kept(tmp_path)
            assert before <= after
            assert {line.strip() for line in told if line.endswith("\n")} <= after
            assert len(server.requests) - asked <= len(after - before) + IN_FLIGHT
            before = after
            if len(after) > 24 - 2:
                break
        finish(start(tmp_path, server, 0.2))
    assert len(kept(tmp_path)) == 24
