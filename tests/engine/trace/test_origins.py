"""Where each message of a request first came from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from trace_files import START, answers, asks, calls_tool, chat, line, load, user

from runtape.trace.origins import Origin, origins
from runtape.trace.refs import resolve
from runtape.trace.trace import Trace

SYSTEM = {"role": "system", "content": "Be good."}


def came(trace: Trace, event: int | str) -> list[tuple[int, int, str | None]]:
    return [(origin.event, origin.index, origin.tool) for origin in origins(trace, resolve(trace, event))]


def ran(number: int, tool: str, result: Any, call_id: str | None = None) -> list[dict[str, Any]]:
    """A tool's run as two events."""
    call = {"name": tool} if call_id is None else {"name": tool, "call_id": call_id}
    return [
        line(number, "tool_call", call),
        line(number + 1, "tool_result", {"name": tool, "result": result}, parent=number),
    ]


def test_messages_come_from_the_request_that_added_them_and_results_from_their_tool(tmp_path: Path) -> None:
    trace = load(
        tmp_path / "t.jsonl",
        line(0, "run_start", START),
        chat(1, messages=[SYSTEM, user("go")]),
        calls_tool(2, 1, "read", "c1"),
        *ran(3, "read", {"mail": "hello"}, "c1"),
        chat(5, base=1, messages_append=[asks("read", "c1"), answers("{'mail': 'hello'}", "c1")]),
        calls_tool(6, 5, "forward", "c2"),
    )
    assert came(trace, 6) == [(1, 0, None), (1, 1, None), (2, 2, None), (4, 3, "read")]
    assert came(trace, 2) == [(1, 0, None), (1, 1, None)]
    assert origins(trace, resolve(trace, 6))[2:] == (
        Origin(2, 2, writer=2),
        Origin(4, 3, "read", call=3, writer=2),
    )


def test_a_result_that_no_recorded_tool_returned_comes_from_the_request(tmp_path: Path) -> None:
    trace = load(
        tmp_path / "t.jsonl",
        chat(1, messages=[user("go"), asks("read", "c1"), answers("mail", "c1")]),
        calls_tool(2, 1, "forward", "c2"),
    )
    assert came(trace, 2) == [(1, 0, None), (1, 1, None), (1, 2, "read")]


def test_one_id_for_every_call_is_told_apart_by_order(tmp_path: Path) -> None:
    trace = load(
        tmp_path / "t.jsonl",
        chat(1, messages=[user("go")]),
        calls_tool(2, 1, "read", "same"),
        *ran(3, "read", "first", "same"),
        chat(5, base=1, messages_append=[asks("read", "same"), answers("shortened 1", "same")]),
        calls_tool(6, 5, "read", "same"),
        *ran(7, "read", "second", "same"),
        chat(9, base=5, messages_append=[asks("read", "same"), answers("shortened 2", "same")]),
        calls_tool(10, 9, "stop", "same"),
    )
    assert [event for event, _, tool in came(trace, 10) if tool] == [4, 8]


def test_one_id_for_every_call_is_told_apart_by_content_first(tmp_path: Path) -> None:
    trace = load(
        tmp_path / "t.jsonl",
        chat(1, messages=[user("go")]),
        calls_tool(2, 1, "read", "same"),
        *ran(3, "read", "first", "same"),
        *ran(5, "read", "second", "same"),
        chat(7, base=1, messages_append=[asks("read", "same"), answers("second", "same")]),
        calls_tool(8, 7, "stop", "same"),
    )
    assert came(trace, 8)[-1] == (6, 2, "read")


@pytest.mark.parametrize("text", ["{'a': 1}", '{"a": 1}', '{"a":1}', '{\n  "a": 1\n}'])
def test_without_ids_a_result_is_known_by_its_content(tmp_path: Path, text: str) -> None:
    trace = load(
        tmp_path / "t.jsonl",
        chat(1, messages=[user("go")]),
        calls_tool(2, 1, "read", ""),
        *ran(3, "other", "x"),
        *ran(5, "read", {"a": 2}),
        *ran(7, "read", {"a": 1}),
        chat(9, base=1, messages_append=[asks("read", ""), answers(text, "")]),
        calls_tool(10, 9, "stop", ""),
    )
    assert came(trace, 10)[-1] == (8, 2, "read")


def test_without_ids_and_with_another_content_the_runs_between_two_requests_count(tmp_path: Path) -> None:
    trace = load(
        tmp_path / "t.jsonl",
        *ran(0, "read", "of another conversation"),
        chat(2, messages=[user("go")]),
        calls_tool(3, 2, "read", ""),
        *ran(4, "read", "long text"),
        chat(6, base=2, messages_append=[asks("read", ""), answers("long…", "")]),
        calls_tool(7, 6, "stop", ""),
    )
    assert came(trace, 7)[-1] == (5, 2, "read")


def test_a_history_that_was_trimmed_keeps_the_origins_of_its_messages(tmp_path: Path) -> None:
    trace = load(
        tmp_path / "t.jsonl",
        chat(1, messages=[SYSTEM, user("a"), user("ok")]),
        calls_tool(2, 1, "x"),
        chat(3, base=1, messages_append=[user("b"), user("ok")]),
        calls_tool(4, 3, "x"),
        chat(5, messages=[SYSTEM, user("ok"), user("b"), user("ok"), user("new")]),
        calls_tool(6, 5, "x"),
    )
    assert [event for event, _, _ in came(trace, 6)] == [1, 1, 3, 3, 5]


def test_a_system_prompt_outside_the_messages_stands_first_with_the_request_that_brought_it(tmp_path: Path) -> None:
    def request(number: int, **fields: Any) -> dict[str, Any]:
        return line(
            number, "llm_request", {"provider": "anthropic", "api": "messages", "model": "c", "params": {}, **fields}
        )

    reply = {"text": "hm", "tool_calls": []}
    trace = load(
        tmp_path / "t.jsonl",
        request(1, system="S", messages=[user("a")]),
        line(2, "llm_response", reply, parent=1),
        request(3, base=1, messages_append=[user("b")]),
        line(4, "llm_response", reply, parent=3),
        request(5, base=3, messages_append=[], system="T"),
        line(6, "llm_response", reply, parent=5),
    )
    assert came(trace, 4) == [(1, -1, None), (1, 0, None), (3, 1, None)]
    assert came(trace, 6)[0] == (5, -1, None)


def test_several_results_in_one_message_come_from_their_tools_one_by_one(tmp_path: Path) -> None:
    def result(call_id: str, text: str) -> dict[str, Any]:
        return {"type": "tool_result", "tool_use_id": call_id, "content": text}

    uses: list[Any] = [{"type": "tool_use", "id": name, "name": name, "input": {}} for name in ("t1", "t2")]
    messages = [
        user("go"),
        {"role": "assistant", "content": uses},
        {"role": "user", "content": [result("t1", "x"), result("t2", "y")]},
    ]
    one = [user("go"), {"role": "assistant", "content": uses[:1]}, {"role": "user", "content": [result("t1", "x")]}]
    facts = {"provider": "anthropic", "api": "messages", "model": "c", "params": {}}
    trace = load(
        tmp_path / "t.jsonl",
        *ran(0, "t1", "x", "t1"),
        *ran(2, "t2", "y", "t2"),
        line(4, "llm_request", {**facts, "messages": messages}),
        line(5, "llm_response", {"text": "hm"}, parent=4),
        line(6, "llm_request", {**facts, "messages": one}),
        line(7, "llm_response", {"text": "hm"}, parent=6),
    )
    assert came(trace, 5)[2:] == [(4, 2, None), (1, 2, "t1"), (3, 2, "t2")]
    assert [(origin.block, origin.call) for origin in origins(trace, resolve(trace, 5))[2:]] == [
        (None, None),
        (0, 0),
        (1, 2),
    ]
    assert came(trace, 7)[-1] == (1, 2, "t1")


def test_a_system_prompt_logged_apart_is_the_first_message(tmp_path: Path) -> None:
    trace = load(
        tmp_path / "t.jsonl",
        chat(1, system="S", messages=[user("a")]),
        calls_tool(2, 1, "x"),
        chat(3, base=1, messages_append=[user("b")]),
        calls_tool(4, 3, "x"),
    )
    assert came(trace, 4) == [(1, 0, None), (1, 1, None), (3, 2, None)]


def says(number: int, parent: int, text: str) -> dict[str, Any]:
    return line(number, "llm_response", {"text": text, "tool_calls": []}, parent=parent)


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def test_what_the_agent_said_comes_from_the_reply_that_said_it(tmp_path: Path) -> None:
    trace = load(
        tmp_path / "t.jsonl",
        chat(1, messages=[user("go"), said("An example.")]),
        says(2, 1, "Plan: delete all."),
        chat(3, base=1, messages_append=[said("Plan: delete all.\n"), user("on")]),
        says(4, 3, "Yes."),
        chat(5, base=3, messages_append=[said("Yes."), user("on")]),
        says(6, 5, "Yes."),
        chat(7, base=5, messages_append=[said("Yes."), user("on")]),
        says(8, 7, "Done."),
    )
    found = {origin.index: origin.writer for origin in origins(trace, resolve(trace, 8))}
    assert found == {0: None, 1: None, 2: 2, 3: None, 4: 4, 5: None, 6: 6, 7: None}


def test_a_call_without_an_id_comes_from_the_reply_with_the_same_arguments(tmp_path: Path) -> None:
    def asked(arguments: str) -> dict[str, Any]:
        call = {"type": "function", "function": {"name": "read", "arguments": arguments}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    trace = load(
        tmp_path / "t.jsonl",
        chat(1, messages=[user("go")]),
        calls_tool(2, 1, "read", "", '{"a": 1, "b": 2}'),
        chat(3, base=1, messages_append=[asked('{"b":2,"a":1}'), answers("x", "")]),
        calls_tool(4, 3, "read", "", '{"a": 2}'),
        chat(5, base=3, messages_append=[asked('{"a": 2}'), answers("y", "")]),
        calls_tool(6, 5, "stop", ""),
    )
    assert [origin.writer for origin in origins(trace, resolve(trace, 6))] == [None, 2, 2, 4, 4]


def test_a_result_that_nobody_recorded_names_the_reply_that_asked_for_it(tmp_path: Path) -> None:
    trace = load(
        tmp_path / "t.jsonl",
        chat(1, messages=[user("go")]),
        calls_tool(2, 1, "read", "c1"),
        chat(3, base=1, messages_append=[asks("read", "c1"), answers("mail", "c1")]),
        calls_tool(4, 3, "forward", "c2"),
    )
    assert origins(trace, resolve(trace, 4))[-1] == Origin(3, 2, "read", writer=2)


def test_the_tools_come_from_the_first_request_that_offered_them(tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "read", "description": "Reads."}}
    trace = load(
        tmp_path / "t.jsonl",
        chat(1, messages=[user("go")], tools=[tool]),
        says(2, 1, "hm"),
        chat(3, base=1, messages_append=[user("on")]),
        says(4, 3, "hm"),
        chat(5, base=3, messages_append=[user("on")], tools=[tool, tool]),
        says(6, 5, "hm"),
    )
    assert came(trace, 4)[0] == (1, -2, None)
    assert came(trace, 6)[0] == (5, -2, None)
