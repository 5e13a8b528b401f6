"""A process that draws samples is killed again and again until it is done."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from .server import Server, serving

EACH, CONCURRENCY, LEASE = 30, 4, 0.2
"""Samples wanted for each kill, requests at once, and seconds until the claims of a killed process are free."""

DRAWING = Path(__file__).with_name("drawing.py")


@dataclass(frozen=True)
class Killed:
    """What the kills did."""

    kills: int
    wanted: int
    """Samples."""
    requests: int
    """More than the samples by those that were on their way at a kill."""
    paid_twice: int
    """Samples asked for again although their reply was in the cache when the process was killed."""
    lost: int
    """Samples that the process had acknowledged and the cache did not hold after the kill."""
    unreadable: int
    """Kills after which the cache could not be read."""


def kill_and_resume(folder: Path, kills: int, *, seed: int = 0) -> Killed:
    """Kill a drawing process `kills` times while it works; then let it finish."""
    rng = random.Random(seed)
    wanted = EACH * kills
    cache, asked = folder / "killed", Counter[str]()
    kept: set[str] = set()
    paid_twice = lost = unreadable = 0
    lock = threading.Lock()

    def answer(body: dict[str, object]) -> dict[str, object]:
        nonlocal paid_twice
        with lock:
            name = json.dumps(body["messages"])
            paid_twice += name in kept
            asked[name] += 1
        return {"text": name}

    server = Server(answer, latency=0.01)
    with serving(server, "127.0.0.1") as url:
        for _ in range(kills):
            process = _start(cache, url, wanted)
            acknowledged = _acknowledged(process, rng.randint(1, 2 * EACH), rng.uniform(0.0, 0.02))
            try:
                found = _found(cache)
            except sqlite3.Error:
                unreadable += 1
                continue
            lost += len(acknowledged - found) + len(kept - found)
            with lock:
                kept = found
        process = _start(cache, url, wanted)
        process.communicate()
        assert process.returncode == 0
        assert len(_found(cache)) == wanted
    return Killed(kills, wanted, sum(asked.values()), paid_twice, lost, unreadable)


def _start(cache: Path, url: str, wanted: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(DRAWING), str(cache), url, str(wanted), str(CONCURRENCY), str(LEASE)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _acknowledged(process: subprocess.Popen[str], lines: int, seconds: float) -> set[str]:
    """The names that the process printed before it was killed: `seconds` after so many of them, while it goes on."""
    assert process.stdout is not None
    first = [process.stdout.readline() for _ in range(lines)]
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    rest = process.stdout.read()
    process.wait()
    whole = ("".join(first) + rest).rpartition("\n")[0]
    return set(whole.split("\n")) - {""}


def _found(cache: Path) -> set[str]:
    db = sqlite3.connect(cache / "replies.sqlite")
    try:
        [verdict] = db.execute("PRAGMA integrity_check").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict)
        rows = [json.loads(text)["reply"]["text"] for (text,) in db.execute("SELECT answer FROM replies")]
    finally:
        db.close()
    return set(rows)
