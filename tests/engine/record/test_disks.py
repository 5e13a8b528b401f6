"""Disks that refuse, stall and are waited for: what the program that is recorded meets of them."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback
from openai import AsyncOpenAI, OpenAI
from provider import answer, bodies, events

from runtape.record import record

ASKED: list[Any] = [{"role": "user", "content": "go"}]

PROGRAM = """
import os, sys
from openai import OpenAI
from runtape.record import record
client = OpenAI(base_url=sys.argv[1], api_key="k")
me = os.geteuid()
for path in sys.argv[2:]:
    if me == 0:  # mode bits do not hold the superuser back
        os.seteuid(65534)
    try:
        record(path, strict=True)
    except OSError as error:
        print(type(error).__name__)
    rec = record(path)
    os.seteuid(me)
    with rec:
        rec.wrap(client)
        print(client.chat.completions.create(model="m", messages=[]).id, rec.tool(lambda x: x + 1)(1))
"""


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="the system has no mode bits")
def test_a_folder_that_cannot_be_written_turns_recording_off() -> None:
    with tempfile.TemporaryDirectory() as name, Loopback(answer) as server:
        folder = Path(name)
        folder.chmod(0o555)
        paths = [folder / "t.jsonl", folder / "missing" / "t.jsonl"]
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, server.url, *map(str, paths)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        folder.chmod(0o700)
        assert list(folder.iterdir()) == []
    assert (done.returncode, done.stdout.splitlines()) == (0, ["PermissionError", "chatcmpl-1 2"] * 2)
    # One line for each recorder: the two that raised, and the two that are off.
    assert [line.count("Permission denied") for line in done.stderr.splitlines()] == [1] * 4


class Waits:
    """Stands in for `os.fsync`, and notes in which thread it was waited and what the file held by then."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
        self.held: list[int] = []
        self.threads: list[threading.Thread] = []
        self._path = path
        self._real = os.fsync
        monkeypatch.setattr(os, "fsync", self)

    def __call__(self, descriptor: int) -> None:
        assert stat.S_ISREG(os.fstat(descriptor).st_mode)
        self.held.append(self._path.read_bytes().count(b"\n"))
        self.threads.append(threading.current_thread())
        self._real(descriptor)


def test_the_disk_is_waited_for_after_an_error_and_at_the_end_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = Waits(monkeypatch, tmp_path / "t.jsonl")
    with (
        Loopback(answer) as server,
        record(tmp_path / "t.jsonl") as rec,
        OpenAI(base_url=server.url, api_key="k") as client,
    ):
        rec.wrap(client)
        for number in range(3):
            client.chat.completions.create(model="m", messages=ASKED)
            rec.tool(len)("abc")
            rec.state("step", number)
        assert waits.held == []
        after = rec.error(ValueError("x"))
        assert waits.held == [after + 1]
        rec.note("went on")
    assert waits.held == [after + 1, len(events(rec.path))]


def test_an_event_loop_never_waits_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = Waits(monkeypatch, tmp_path / "t.jsonl")

    async def main(url: str) -> None:
        async with AsyncOpenAI(base_url=url, api_key="k") as client:
            with record(tmp_path / "t.jsonl") as rec:
                rec.wrap(client)
                await client.chat.completions.create(model="m", messages=ASKED)
                rec.error(ValueError("x"))

    before = set(threading.enumerate())
    with Loopback(answer) as server:
        asyncio.run(main(server.url))
        for thread in set(threading.enumerate()) - before:
            if thread.name == "runtape-sync":
                thread.join(30)
    assert len(waits.threads) == 2
    assert {thread.name for thread in waits.threads} == {"runtape-sync"}
    assert [event.type for event in events(tmp_path / "t.jsonl")][-2:] == ["error", "run_end"]


def test_a_disk_that_stalls_holds_the_caller_alone_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, stalls = threading.Event(), threading.Event()
    held: list[threading.Thread] = []
    real = os.write

    def write(descriptor: int, data: bytes) -> int:
        if not held:
            held.append(threading.current_thread())
            stalls.set()
            assert go_on.wait(30)
        return real(descriptor, data)

    with (
        Loopback(answer) as server,
        record(tmp_path / "t.jsonl") as rec,
        OpenAI(base_url=server.url, api_key="k") as client,
        OpenAI(base_url=server.url, api_key="k") as unrecorded,
    ):
        rec.wrap(client)
        monkeypatch.setattr(os, "write", write)
        caller = threading.Thread(target=lambda: client.chat.completions.create(model="m", messages=ASKED))
        caller.start()
        assert stalls.wait(30)
        assert unrecorded.chat.completions.create(model="m", messages=ASKED).id == "chatcmpl-1"
        assert held == [caller]  # writes are direct: no thread of the recorder stands between the call and its record
        go_on.set()
        caller.join(30)
        sent = [request.body for request in server.requests]
    assert bodies(rec.path) == sent[1:]
    assert [event.type for event in events(rec.path)] == ["run_start", "llm_request", "llm_response", "run_end"]
