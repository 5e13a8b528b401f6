"""Which decision a reference means, and what an error about one names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from trace_files import START, answers, asks, calls_tool, chat, line, load, user

from runtape.errors import EventNotFound, NotADecision
from runtape.trace.refs import resolve
from runtape.trace.trace import Trace


def run(path: Path, *, linked: bool = True, run_tools: bool = True) -> Trace:
    """Reads a mail, then forwards it; the tool runs may be unrecorded, or recorded without what links them."""
    lines: list[Any] = [line(0, "run_start", START), chat(1, messages=[user("go")]), calls_tool(2, 1, "read", "c1")]
    if run_tools:
        lines += [
            line(3, "tool_call", {"name": "read", "call_id": "c1"} if linked else {"name": "read"}),
            line(4, "tool_result", {"name": "read", "result": "mail"}, parent=3),
        ]
    lines += [
        chat(5, base=1, messages_append=[asks("read", "c1"), answers("mail", "c1")]),
        calls_tool(6, 5, "forward", "c2"),
    ]
    if run_tools:
        lines += [
            line(7, "tool_call", {"name": "forward"}, meta={"requested_by": 6} if linked else {}),
            line(8, "tool_result", {"name": "forward", "result": "sent"}, parent=7),
            line(9, "tool_call", {"name": "clock"}),
        ]
    lines += [line(10, "state", {"key": "k", "value": 1}), chat(11, messages=[user("pending")])]
    return load(path / "mail.jsonl", *lines)


@pytest.mark.parametrize(
    ("event", "response", "tool", "tool_call"),
    [
        (1, 2, None, None),
        (2, 2, None, None),
        (3, 2, "read", 3),
        (4, 2, "read", 3),
        (5, 6, None, None),
        ("6", 6, None, None),
        (" 7 ", 6, "forward", 7),
        (8, 6, "forward", 7),
        ("tool:read", 2, "read", 3),
        ("tool:forward", 6, "forward", 7),
        ("last", 6, None, None),
    ],
)
@pytest.mark.parametrize("linked", [True, False])
def test_any_event_of_a_call_means_its_decision(
    tmp_path: Path, *, event: int | str, response: int, tool: str | None, tool_call: int | None, linked: bool
) -> None:
    moment = resolve(run(tmp_path, linked=linked), event)
    assert moment.response.id == response
    assert moment.request.id == response - 1
    assert moment.tool == tool
    assert (moment.tool_call.id if moment.tool_call else None) == tool_call
    assert (moment.result.id if moment.result else None) == (event if event in (4, 8) else None)


def test_a_tool_that_was_never_run_is_found_in_the_replies(tmp_path: Path) -> None:
    moment = resolve(run(tmp_path, run_tools=False), "tool:forward")
    assert (moment.request.id, moment.response.id, moment.tool, moment.tool_call) == (5, 6, "forward", None)


def test_the_last_call_of_a_tool_is_meant(tmp_path: Path) -> None:
    lines: list[Any] = [line(0, "run_start", START)]
    for number in (1, 4, 7):
        lines += [
            chat(number, messages=[user("go")]),
            calls_tool(number + 1, number, "read", "same-id"),
            line(number + 2, "tool_call", {"name": "read", "call_id": "same-id"}),
        ]
    trace = load(tmp_path / "t.jsonl", *lines)
    assert resolve(trace, "tool:read").response.id == 8
    assert [resolve(trace, number).response.id for number in (3, 6, 9)] == [2, 5, 8]


@pytest.mark.parametrize(
    ("event", "error", "told"),
    [
        (99, EventNotFound, "no event 99; its events are 0 to 11"),
        (-1, EventNotFound, "no event -1"),
        ("99", EventNotFound, "no event 99"),
        ("tool:forwrd", EventNotFound, r"called were 'read', 'forward', 'clock'; did you mean 'tool:forward'\?"),
        ("tool:", EventNotFound, "called were 'read'"),
        ("read", EventNotFound, "for the tool write 'tool:read'"),
        ("first", EventNotFound, "give a number up to 11, 'tool:NAME' or 'last'"),
        ("", EventNotFound, "names no event"),
        ("9" * 5000, EventNotFound, "names no event"),
        ("²", EventNotFound, "names no event"),
        (0, NotADecision, "event 0 is a run_start event and belongs to no model call; the one after it is event 1"),
        (10, NotADecision, "the one before it is event 5, the one after it is event 11"),
        (11, NotADecision, "event 11 has no recorded reply"),
        (9, NotADecision, "ran the tool 'clock', but no recorded reply asked for it"),
    ],
)
def test_an_error_names_what_there_is(tmp_path: Path, event: int | str, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        resolve(run(tmp_path), event)


def test_a_trace_without_replies_says_so(tmp_path: Path) -> None:
    trace = load(tmp_path / "t.jsonl", line(0, "run_start", START), chat(1, messages=[]))
    with pytest.raises(NotADecision, match="holds 1 model calls, and no reply"):
        resolve(trace, "last")
    with pytest.raises(EventNotFound, match="no tool was called"):
        resolve(trace, "tool:x")


def test_a_reply_without_its_request_is_no_decision(tmp_path: Path) -> None:
    trace = load(tmp_path / "t.jsonl", line(0, "run_start", START), calls_tool(2, 1, "read"))
    with pytest.raises(NotADecision, match="event 2 is a reply, but its request is not in this trace"):
        resolve(trace, 2)


def test_a_result_whose_call_is_missing_is_no_decision(tmp_path: Path) -> None:
    trace = load(tmp_path / "t.jsonl", chat(1, messages=[]), line(4, "tool_result", {"name": "x"}, parent=3))
    with pytest.raises(NotADecision, match="event 4 is a tool_result event"):
        resolve(trace, 4)
