"""A large trace is read like a small one, without being held in memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from trace_files import START, line

from runtape import canon
from runtape.errors import EventNotFound
from runtape.record import record
from runtape.trace.reader import read
from runtape.trace.trace import Trace


def a_run(path: Path) -> Path:
    with record(path, name="big") as rec:
        history: list[Any] = []
        for turn in range(30):
            history = [*history[turn % 7 == 6 :], {"role": "user", "content": f"turn {turn} " + "word " * 200}]
            asked = rec.log_llm_request(
                provider="openai" if turn % 5 else "other",
                api="chat.completions",
                model=f"m{turn % 2}",
                messages=history,
                system=f"It is {turn}.\n" + "Rules are rules.\n" * 60,
                tools=[{"name": "f"}] if turn < 20 else None,
            )
            rec.log_llm_response(asked, text="ok", tool_calls=[{"id": "a", "name": f"tool{turn % 3}", "arguments": {}}])
            rec.tool(len, name="run")("abc")
    return rec.path


def both(path: Path) -> tuple[Trace, Trace]:
    return Trace(path, read(path)), Trace(path, read(path, in_memory=0))


def test_everything_is_the_same(tmp_path: Path) -> None:
    small, large = both(a_run(tmp_path / "t.jsonl"))
    assert list(large.events) == list(small.events)
    assert large.events[-1] == small.events[-1]
    assert large.events[3:9:2] == list(small.events[3:9:2])
    assert large.summary() == small.summary()
    assert len(large.calls) == len(small.calls) == 30
    for mine, other in zip(large.calls, small.calls, strict=True):
        assert (mine.request, mine.response) == (other.request, other.response)
        assert large.request(mine.request) == small.request(other.request)
        assert large.history(mine.request) == small.history(other.request)
        assert large.stored_system(mine.request) == small.stored_system(other.request)
        assert large.reply(mine.request) == small.reply(other.request)
        assert large.call(mine.response or mine.request) == small.call(other.response or other.request)
    with pytest.raises(EventNotFound) as told:
        large.event(9999)
    with pytest.raises(EventNotFound, match=str(told.value)):
        small.event(9999)


@pytest.mark.parametrize(
    "bad",
    [
        b"not json\n",
        b"[1]\n",
        b"\0\0\0\n",
        line(3, "log"),
        line(9, "llm_request", {"base": 77, "messages_append": []}),
        line(9, "llm_request", {"dropped": "x"}),
        line(9, "log", {"n": 2**70}),
        b'{"id": 9, "ts": 1.0, "type": "log", "payload": {"n": NaN}, "meta": {}}\n',
        b'{"id": 9, "ts": 1.0, "type": "log", "payload": {"n": 1}, "meta": {}, "parent": 55}\n',
        b'{"id": 9, "type": "later kind"}\n',
    ],
)
def test_problems_are_the_same(tmp_path: Path, bad: Any) -> None:
    lines = [line(0, "run_start", START), line(3, "log"), bad, line(12, "log"), line(5, "log", {"late": True})]
    (tmp_path / "t.jsonl").write_bytes(
        b"".join(part if isinstance(part, bytes) else canon.dumps(part) + b"\n" for part in lines) + b'{"torn'
    )
    small, large = both(tmp_path / "t.jsonl")
    assert large.problems == small.problems
    assert (large.truncated, list(large.events)) == (small.truncated, list(small.events))
    assert large.event(5) == small.event(5)


def test_a_large_file_is_not_held_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with path.open("wb") as file:
        for number in range(3000):
            file.write(
                canon.dumps({"id": number, "ts": 1.0, "type": "log", "payload": {"x": "y" * 10_000}, "meta": {}})
                + b"\n"
            )
    tracemalloc.start()
    try:
        trace = Trace.load(path)
        assert sum(len(str(event.payload["x"])) for event in trace.events) == 30_000_000
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_a_trace_that_was_removed_can_be_read_to_its_end(tmp_path: Path) -> None:
    path = a_run(tmp_path / "t.jsonl")
    _, large = both(path)
    path.unlink()
    assert [event.type for event in large.events][-1] == "run_end"
    assert large.events[-1].payload["status"] == "ok"


def test_a_newer_format_is_told(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(
        canon.dumps({"id": 0, "ts": 1.0, "type": "run_start", "payload": {"version": 9}}) + b"\n"
    )
    assert "newer version" in read(tmp_path / "t.jsonl").problems[0].reason
