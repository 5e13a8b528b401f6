"""The trace file under trouble: full disks, short writes, kills, forks, threads, descriptors taken away."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape.trace.reader import read
from runtape.trace.writer import Writer
from runtape.wire.values import Json

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


class Disk:
    """Stands in for `os.write`: real writes that a plan limits or refuses, call by call."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, plan: Iterator[int | OSError | None]) -> None:
        self._write = os.write
        self._plan = plan
        monkeypatch.setattr(os, "write", self)

    def __call__(self, descriptor: int, data: Any) -> int:
        limit = next(self._plan, None)
        if isinstance(limit, OSError):
            raise limit
        return self._write(descriptor, data if limit is None else bytes(data)[:limit])


def full() -> OSError:
    return OSError(errno.ENOSPC, "No space left on device")


def raw_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_events_stand_in_the_file_as_they_were_given(path: Path) -> None:
    writer = Writer.create(path)
    first = writer.append("run_start", {"name": "x"})
    second = writer.append("tool_call", {"name": "f"}, meta={"requested_by": 0}, parent=first)
    writer.close()
    start, call = raw_lines(path)
    assert (first, second) == (0, 1)
    assert list(call) == ["id", "ts", "type", "parent", "payload", "meta"]
    assert call == {
        **call,
        "id": 1,
        "type": "tool_call",
        "parent": 0,
        "payload": {"name": "f"},
        "meta": {"requested_by": 0},
    }
    assert start["meta"] == {}
    assert writer.acknowledged(0)
    assert writer.acknowledged(1)
    assert not writer.acknowledged(2)


def test_file_and_new_folders_are_for_the_owner_only(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        writer = Writer.create(tmp_path / "a" / "b" / "run.jsonl")
    finally:
        os.umask(before)
    assert [stat.S_IMODE(part.stat().st_mode) for part in (writer.path, *writer.path.parents[:2])] == [
        0o600,
        0o700,
        0o700,
    ]


def test_a_second_run_of_the_same_name_gets_a_file_of_its_own(path: Path) -> None:
    writers = [Writer.create(path) for _ in range(3)]
    for number, writer in enumerate(writers):
        writer.append("log", {"run": number})
        writer.close()
    assert [writer.path.name for writer in writers] == ["run.jsonl", "run-2.jsonl", "run-3.jsonl"]
    assert [raw_lines(writer.path)[0]["payload"]["run"] for writer in writers] == [0, 1, 2]


def test_two_processes_with_one_path_lose_nothing(path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from runtape.trace.writer import Writer\n"
        "w = Writer.create(Path(sys.argv[1]))\n"
        "for i in range(500): w.append('log', {'i': i})\n"
        "w.close()"
    )
    children = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(2)]
    assert [child.wait(60) for child in children] == [0, 0]
    files = sorted(path.parent.iterdir())
    assert len(files) == 2
    assert sum(len(read(file).events) for file in files) == 1000


@pytest.mark.parametrize("kind", ["directory", "device", "file in the way"])
def test_a_path_that_can_be_no_trace_turns_the_writer_off(
    tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.jsonl"
    if kind == "directory":
        path.mkdir()
    elif kind == "device":
        path.symlink_to(os.devnull)
    else:
        path.write_text("not a folder")
        path /= "run.jsonl"
    writer = Writer.create(path)
    assert isinstance(writer.error, OSError)
    assert [writer.append("log", {}) for _ in range(3)] == [0, 1, 2]
    writer.close()
    assert writer.lost == 3
    assert not writer.acknowledged(0)
    assert capsys.readouterr().err.count("\n") == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.jsonl"]


def test_a_full_disk_drops_and_counts_events_and_a_gap_tells_of_them(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    writer = Writer.create(path)
    Disk(monkeypatch, iter([None] * 4 + [full() for _ in range(46)]))
    numbers = [writer.append("log", {"i": i}) for i in range(60)]
    writer.close()
    events = read(path).events
    assert numbers == list(range(60))
    assert writer.lost == 46
    assert [event.id for event in events] == [0, 1, 2, 3, 4, *range(50, 60)]
    assert events[4].type == "gap"
    assert events[4].payload == {"lost": 46, "first": 4, "last": 49, "reason": "[Errno 28] No space left on device"}
    assert [number for number in numbers if writer.acknowledged(number)] == [0, 1, 2, 3, *range(50, 60)]
    assert capsys.readouterr().err.count("\n") == 1


def test_events_lost_at_the_end_are_told_when_the_file_is_closed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Writer.create(path)
    Disk(monkeypatch, iter([None, full(), full()]))
    for _ in range(3):
        writer.append("log", {})
    writer.close()
    assert [(event.id, event.type) for event in read(path).events] == [(0, "log"), (1, "gap")]


@given(st.lists(st.integers(1, 40) | st.none() | st.just("full"), max_size=30), st.integers(1, 12))
def test_after_any_short_or_failed_writes_every_line_is_whole_and_every_loss_is_counted(
    tmp_path_factory: pytest.TempPathFactory, plan: list[Any], count: int
) -> None:
    path = tmp_path_factory.mktemp("w") / "run.jsonl"
    writer = Writer.create(path)
    with pytest.MonkeyPatch.context() as patch:
        Disk(patch, iter([full() if step == "full" else step for step in plan]))
        numbers = [writer.append("log", {"text": "x" * 20}) for _ in range(count)]
    writer.append("log", {"last": True})
    writer.close()
    reading = read(path)
    assert (reading.problems, reading.truncated) == ([], False)
    written = [event.id for event in reading.events if event.type == "log"]
    assert [number for number in (*numbers, count) if writer.acknowledged(number)] == written
    assert sum(int(str(event.payload["lost"])) for event in reading.events if event.type == "gap") == writer.lost
    assert len(written) + writer.lost == count + 1


def test_a_part_of_a_line_that_cannot_be_taken_back_is_closed_by_the_next_line(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = Writer.create(path)

    def refuse(descriptor: int, size: int) -> None:
        raise OSError(errno.EPERM, "not permitted")

    monkeypatch.setattr(os, "ftruncate", refuse)
    Disk(monkeypatch, iter([None, 10, full()]))
    for text in "abc":
        writer.append("log", {"text": text})
    writer.close()
    reading = read(path)
    assert [event.type for event in reading.events] == ["log", "gap", "log"]
    assert [problem.line for problem in reading.problems] == [2]


def test_a_limit_on_the_size_of_files_is_survived(path: Path) -> None:
    resource = pytest.importorskip("resource")
    code = (
        "import resource, sys; from pathlib import Path; from runtape.trace.writer import Writer\n"
        "w = Writer.create(Path(sys.argv[1]))\n"
        "hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))\n"
        "for i in range(30): w.append('log', {'text': 'x' * 100})\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))\n"
        "w.append('log', {'text': 'back'})\n"
        "w.close(); print(w.lost)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert resource is not None
    assert done.returncode == 0, done.stderr
    reading = read(path)
    assert not reading.problems
    assert [event.type for event in reading.events][-2:] == ["gap", "log"]
    assert reading.events[-2].payload["lost"] == int(done.stdout)
    assert len(reading.events) - 1 + int(done.stdout) == 31


def test_a_kill_in_mid_write_loses_no_acknowledged_event(path: Path) -> None:
    code = (
        "import random, sys; from pathlib import Path; from runtape.trace.writer import Writer\n"
        "w = Writer.create(Path(sys.argv[1])); r = random.Random(int(sys.argv[2]))\n"
        "while True:\n"
        "    n = w.append('log', {'text': r.choice('aäあ😀') * r.choice((10, 1000, 100_000))})\n"
        "    assert w.acknowledged(n); print(n, flush=True)"
    )
    for seed in range(5):
        target = path.with_name(f"{seed}.jsonl")
        child = subprocess.Popen(
            [sys.executable, "-c", code, str(target), str(seed)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert child.stdout is not None
        told = [child.stdout.readline() for _ in range(random.Random(seed).randint(1, 40))]
        child.send_signal(signal.SIGKILL)
        told += child.stdout.readlines()
        child.stdout.close()
        child.wait(30)
        reading = read(target)
        acknowledged = int([line for line in told if line.endswith(b"\n")][-1])
        assert {event.id for event in reading.events} >= set(range(acknowledged + 1))
        assert len(reading.problems) == int(reading.truncated)


def test_threads_share_a_writer_and_the_file_is_in_order(path: Path) -> None:
    writer = Writer.create(path)
    together = threading.Barrier(8)

    def work(worker: int) -> None:
        together.wait(30)
        for i in range(200):
            writer.append("log", {"worker": worker, "i": i})

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    writer.close()
    events = read(path).events
    assert [event.id for event in events] == list(range(1600))
    for worker in range(8):
        assert [event.payload["i"] for event in events if event.payload["worker"] == worker] == list(range(200))


def test_an_event_recorded_while_another_is_written_waits_its_turn(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Writer.create(path)
    write = os.write
    inner: list[int] = []

    def interrupted(descriptor: int, data: Any) -> int:
        if not inner:  # as a signal handler or a finalizer would
            inner.append(writer.append("log", {"inner": True}))
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", interrupted)
    outer = writer.append("log", {"outer": True})
    writer.close()
    assert (outer, inner) == (0, [1])
    assert [event.payload for event in read(path).events] == [{"outer": True}, {"inner": True}]


@needs_fork
def test_a_forked_child_goes_on_in_a_file_that_names_its_parent(path: Path) -> None:
    writer = Writer.create(path)
    writer.append("run_start", {"format": "runtape", "version": 1, "name": "n"})
    writer.append("log", {"who": "both"})
    child = os.fork()
    if child == 0:  # pragma: no cover -- in the child
        try:
            assert writer.forked
            for i in range(5):
                writer.append("log", {"who": "child", "i": i})
            writer.append("run_end", {"status": "ok"})
            writer.close()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    for i in range(5):
        writer.append("log", {"who": "parent", "i": i})
    writer.append("run_end", {"status": "ok"})
    writer.close()
    (segment,) = set(path.parent.iterdir()) - {path}
    ours, theirs = read(path).events, read(segment).events
    assert [event.payload.get("who") for event in ours] == [None, "both", *["parent"] * 5, None]
    assert [event.payload.get("who") for event in theirs] == [None, *["child"] * 5, None]
    assert theirs[0].type == "run_start"
    assert theirs[0].payload["segment_of"] == path.name
    assert theirs[0].payload["name"] == "n"
    assert min(event.id for event in theirs) == 2
    assert stat.S_IMODE(segment.stat().st_mode) == 0o600


@needs_fork
def test_a_forked_child_that_only_ends_leaves_no_trace_of_itself(path: Path) -> None:
    writer = Writer.create(path)
    writer.append("run_start", {})
    child = os.fork()
    if child == 0:  # pragma: no cover -- in the child
        try:
            writer.append("run_end", {"status": "ok"})
            writer.close()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    writer.append("run_end", {"status": "ok"})
    writer.close()
    assert list(path.parent.iterdir()) == [path]
    assert [event.type for event in read(path).events] == ["run_start", "run_end"]


@needs_fork
def test_a_fork_while_another_thread_writes_does_not_lock_the_child(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = Writer.create(path)
    writer.append("run_start", {})
    write = os.write
    writing, go_on = threading.Event(), threading.Event()

    def slow(descriptor: int, data: Any) -> int:
        if threading.current_thread() is not threading.main_thread():
            writing.set()
            go_on.wait(30)
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", slow)
    thread = threading.Thread(target=writer.append, args=("log", {"who": "thread"}))
    thread.start()
    assert writing.wait(30)
    child = os.fork()
    if child == 0:  # pragma: no cover -- in the child
        signal.alarm(20)
        number = writer.append("log", {"who": "child"})
        os._exit(0 if writer.acknowledged(number) else 1)
    assert os.waitpid(child, 0)[1] == 0
    go_on.set()
    thread.join(30)
    writer.close()
    assert [event.payload for event in read(path).events] == [{}, {"who": "thread"}]


def test_no_line_goes_into_a_file_that_took_our_descriptor(path: Path) -> None:
    writer = Writer.create(path)
    writer.append("log", {"i": 0})
    ours = next(int(entry.name) for entry in Path("/proc/self/fd").iterdir() if _leads_to(entry, path))
    os.close(ours)
    theirs = path.with_name("theirs.txt")
    held = os.open(theirs, os.O_RDWR | os.O_CREAT)
    if held != ours:
        os.dup2(held, ours)
    try:
        writer.append("log", {"i": 1})
        writer.close()
        assert theirs.read_bytes() == b""
        assert os.fstat(ours).st_ino == theirs.stat().st_ino
        assert [event.payload for event in read(path).events] == [{"i": 0}, {"i": 1}]
    finally:
        os.close(ours)
        if held != ours:
            os.close(held)


def _leads_to(descriptor: Path, path: Path) -> bool:
    try:
        return descriptor.readlink() == path.resolve()
    except OSError:
        return False


def test_a_file_removed_in_mid_run_is_told_when_it_is_closed(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    writer = Writer.create(path)
    writer.append("log", {})
    path.unlink()
    writer.append("log", {})
    writer.close()
    assert "removed" in capsys.readouterr().err
    assert isinstance(writer.error, FileNotFoundError)


def test_a_clock_that_jumps_back_changes_neither_numbers_nor_order(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Writer.create(path)
    writer.append("log", {"i": 0})
    now = time.time() - 3600
    monkeypatch.setattr(time, "time", lambda: now)
    writer.append("log", {"i": 1})
    writer.close()
    assert [(event.id, event.payload["i"]) for event in read(path).events] == [(0, 0), (1, 1)]


@given(st.text(st.characters(exclude_categories=()), max_size=50))
def test_any_text_reads_back_equal_and_is_strict_json_on_disk(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.mktemp("w") / "run.jsonl"
    writer = Writer.create(path)
    writer.append("log", {text: [text, "ab\ud83d", "\0", "\u2028"]})
    writer.close()
    raw = path.read_bytes()
    assert raw.count(b"\n") == 1
    raw.decode("utf-8")
    assert read(path).events[0].payload == {text: [text, "ab\ud83d", "\0", "\u2028"]}


def test_a_payload_that_is_no_json_is_written_as_far_as_it_is(path: Path) -> None:
    writer = Writer.create(path)
    looped: list[Any] = []
    looped.append(looped)
    writer.append("log", {"s": cast("Json", {1}), "loop": looped, "n": 10**6000})
    writer.close()
    payload = read(path).events[0].payload
    assert payload["s"] == [1]
    assert payload["loop"] == ["<cycle>"]
    assert writer.lost == 0


def test_a_text_beyond_the_limit_is_cut_with_its_length_and_digest(path: Path) -> None:
    writer = Writer.create(path)
    writer.append("log", {"big": "é" * 12_000_000, "small": "kept"})
    writer.close()
    payload = read(path).events[0].payload
    big = str(payload["big"])
    assert payload["small"] == "kept"
    assert len(big) < 200_000
    assert big.startswith("é" * 1000)
    assert "12000000 characters, sha256 " in big
    assert path.stat().st_size < 1_000_000


def test_a_closed_writer_drops_events_quietly(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    writer = Writer.create(path)
    writer.append("log", {})
    writer.close()
    writer.close()
    late = writer.append("log", {})
    assert not writer.acknowledged(late)
    assert len(read(path).events) == 1
    assert not capsys.readouterr().err
