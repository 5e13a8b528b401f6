"""A trace as its callers see it: calls, requests, replies, the run at a glance."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from trace_files import START, answers, asks, calls_tool, chat, line, load, user, write

from runtape.errors import BrokenRequest, EventNotFound, NotADecision, TraceNotFound
from runtape.trace.trace import Trace
from runtape.wire.values import ToolCall

TOOLS = [{"type": "function", "function": {"name": "read"}}]


def run(path: Path, *, end: Any = None) -> Trace:
    """Two turns of an agent with one tool."""
    return load(
        path / "inbox.jsonl",
        line(0, "run_start", START),
        chat(1, endpoint="https://h/v1", messages=[user("go")], tools=TOOLS, params={"temperature": 0.5}),
        calls_tool(2, 1, "read", arguments='{"id": 1}'),
        line(3, "tool_call", {"name": "read", "arguments": {"id": 1}, "call_id": "c1"}, meta={"requested_by": 2}),
        line(4, "tool_result", {"name": "read", "result": "mail"}, parent=3),
        chat(5, base=1, messages_append=[asks("read"), answers("mail")], endpoint="https://h/v1"),
        line(6, "llm_response", {"text": "done", "tool_calls": [], "stop_reason": "stop", "raw": None}, parent=5),
        *([end] if end else []),
    )


def test_requests_are_the_bodies_that_were_sent(tmp_path: Path) -> None:
    trace = run(tmp_path)
    first, second = (trace.request(call.request) for call in trace.calls)
    assert (first.provider, first.api, first.endpoint) == ("openai", "chat.completions", "https://h/v1")
    assert first.body == {"model": "gpt-x", "messages": [user("go")], "tools": TOOLS, "temperature": 0.5}
    assert second.body == {"model": "gpt-x", "messages": [user("go"), asks("read"), answers("mail")], "tools": TOOLS}
    assert trace.request(6) == trace.request(5) == second
    assert trace.context(5).messages == second.body["messages"]


def test_a_reply_is_read_out_of_the_body_that_came_back(tmp_path: Path) -> None:
    reply = run(tmp_path).reply(2)
    assert reply.tool_calls == (ToolCall("read", '{"id": 1}', {"id": 1}, "c1"),)
    assert (reply.stop, reply.model) == ("tool_calls", "gpt-x-2026")


def test_a_reply_logged_by_hand_is_read_out_of_its_fields(tmp_path: Path) -> None:
    trace = run(tmp_path)
    assert trace.reply(6).text == "done"
    assert trace.reply(trace.event(5)) == trace.reply(6)


@pytest.mark.parametrize(
    ("payload", "told"),
    [
        ({"error": {"type": "HTTP 500", "message": "overloaded"}}, "HTTP 500: overloaded"),
        ({"unparsed": "the response holds no answer", "raw": {"x": 1}}, "holds no answer"),
        ({}, "event 2 holds no reply"),
        ({"text": None, "tool_calls": [{"id": "x"}]}, "event 2 holds no reply"),
        ({"dropped": "redaction failed"}, "event 2 holds no reply"),
    ],
)
def test_a_response_without_an_answer_is_no_decision(tmp_path: Path, payload: Any, told: str) -> None:
    trace = load(tmp_path / "t.jsonl", chat(1, messages=[]), line(2, "llm_response", payload, parent=1))
    with pytest.raises(NotADecision, match=told):
        trace.reply(2)


def test_the_last_of_several_responses_is_the_reply(tmp_path: Path) -> None:
    failed = line(2, "llm_response", {"error": {"type": "HTTP 429"}}, parent=1)
    trace = load(tmp_path / "t.jsonl", chat(1, messages=[]), failed, line(3, "llm_response", {"text": "ok"}, parent=1))
    assert trace.reply(1).text == "ok"


def test_a_request_without_a_reply_can_still_be_read(tmp_path: Path) -> None:
    trace = load(tmp_path / "t.jsonl", chat(1, messages=[user("go")]))
    assert trace.calls[0].response is None
    assert trace.request(1).body["messages"] == [user("go")]
    with pytest.raises(NotADecision, match="event 1 has no recorded reply"):
        trace.reply(1)


def test_a_system_prompt_logged_apart_is_the_first_message_of_a_chat(tmp_path: Path) -> None:
    trace = load(tmp_path / "t.jsonl", chat(1, system="Be good.", messages=[user("go")]))
    assert trace.context(1).messages == [{"role": "system", "content": "Be good."}, user("go")]
    assert trace.context(1).system is None


def test_an_anthropic_system_prompt_stays_outside_the_messages(tmp_path: Path) -> None:
    payload = {
        "provider": "anthropic",
        "api": "messages",
        "model": "c",
        "system": "S",
        "messages": [user("go")],
        "params": {},
    }
    trace = load(tmp_path / "t.jsonl", line(1, "llm_request", payload))
    assert trace.request(1).body == {"model": "c", "system": "S", "messages": [user("go")]}
    assert trace.context(1).system == "S"


def test_events_that_are_not_there_are_told_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(EventNotFound, match=r"'inbox' has no event 99; its events are 0 to 6, 7 in all"):
        run(tmp_path).event(99)


def test_events_outside_of_model_calls_belong_to_no_request(tmp_path: Path) -> None:
    with pytest.raises(
        NotADecision, match=r"event 4 is a tool_result event .* before it is event 1, .* after it is event 5"
    ):
        run(tmp_path).request(4)


def test_a_request_on_a_missing_base_is_broken_and_the_others_are_not(tmp_path: Path) -> None:
    trace = load(tmp_path / "t.jsonl", chat(1, messages=[user("a")]), chat(5, base=3, messages_append=[]))
    assert trace.request(1).body["messages"] == [user("a")]
    with pytest.raises(BrokenRequest, match="event 3, on which event 5 builds"):
        trace.request(5)
    assert len(trace.problems) == 1


def test_a_summary_tells_the_run_at_a_glance(tmp_path: Path) -> None:
    summary = run(tmp_path, end=line(7, "run_end", {"status": "ok", "duration_ms": 1500})).summary()
    assert (summary.name, summary.status, summary.started) == ("inbox", "ok", "2023-11-14T22:13:20+00:00")
    assert (summary.events, summary.model_calls, summary.tools, summary.models) == (8, 2, ("read",), ("gpt-x",))
    assert (summary.duration, summary.problems) == (1.5, 0)


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (None, "crashed"),
        (line(7, "run_end", {"status": "ok"}), "ok"),
        (line(7, "run_end", {"status": "error"}), "error"),
        (line(7, "run_end", {"status": ["odd"]}), "unknown"),
        (line(7, "run_end"), "unknown"),
    ],
)
def test_the_status_is_what_the_run_said_at_its_end(tmp_path: Path, end: Any, status: str) -> None:
    assert run(tmp_path, end=end).summary().status == status


@pytest.mark.skipif(sys.platform == "win32", reason="no advisory locks")
def test_a_run_is_recording_until_its_writer_ends_whatever_ends_it(tmp_path: Path) -> None:
    recording = "import runtape, sys, time; rec = runtape.record('run.jsonl'); print(rec.path, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", recording], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        path = tmp_path / process.stdout.readline().strip()
        during = Trace.load(path).summary().status
        process.kill()
        process.wait()
    assert (during, Trace.load(path).summary().status) == ("recording", "crashed")


def test_a_prepared_trace_without_beginning_and_end_has_an_unknown_status(tmp_path: Path) -> None:
    summary = load(
        tmp_path / "prepared.jsonl", '{"id": 1, "type": "llm_request", "payload": {"messages": []}}'
    ).summary()
    assert (summary.name, summary.status, summary.started, summary.duration) == ("prepared", "unknown", None, None)


@pytest.mark.parametrize("ts", [0, 1e300, -1e300, 1e15])
def test_times_that_no_calendar_holds_are_unknown(tmp_path: Path, ts: float) -> None:
    assert load(tmp_path / "t.jsonl", {"id": 0, "type": "log", "ts": ts}).summary().started is None


def test_a_missing_trace_is_told(tmp_path: Path) -> None:
    with pytest.raises(TraceNotFound, match="there is no trace at"):
        Trace.load(tmp_path / "none.jsonl")


def test_wrong_types_inside_payloads_are_clear_errors_or_left_out(tmp_path: Path) -> None:
    odd = [[], {}, "x", 7, None, True]
    for number, value in enumerate(odd):
        payload = dict.fromkeys(
            ("provider", "api", "endpoint", "model", "messages", "tools", "params", "system"), value
        )
        reply = dict.fromkeys(("text", "tool_calls", "stop_reason", "raw", "error", "name"), value)
        path = write(
            tmp_path / f"{number}.jsonl",
            line(1, "llm_request", payload),
            line(2, "llm_response", reply, parent=1),
            line(3, "tool_call", reply),
            line(4, "run_end", {"status": value, "duration_ms": value}),
        )
        trace = Trace.load(path)
        assert trace.summary().events == 4
        for read in (trace.request, trace.context, trace.reply):
            with suppress(BrokenRequest, NotADecision):
                read(1)
