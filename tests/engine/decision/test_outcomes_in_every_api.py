"""Answers that are no sample of a decision, in the bodies of every API: none of them "did not call the tool"."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runtape.decision.actions import judge
from runtape.decision.choose import choose
from runtape.stats.tally import count
from runtape.wire.dialects import dialect_for
from runtape.wire.values import Reply, ToolCall

WHOLE = {"order": 7, "amount": 2000}
CUT = '{"order": 7, "amo'
RECORDED = Reply(None, (ToolCall("issue_refund", json.dumps(WHOLE), dict(WHOLE)),), stop="tool_calls")
DECISIONS = {
    "tool": choose(RECORDED, event=9),
    "exact": choose(RECORDED, exact_args=True, event=9),
    "args": choose(RECORDED, args=["amount"], event=9),
    "where": choose(RECORDED, where="amount > 1000", event=9),
    "match": choose(RECORDED, match="2000", event=9),
}


def chat(finish: str, text: str | None = None, arguments: str | None = None, **message: Any) -> Any:
    calls = [{"id": "c", "type": "function", "function": {"name": "issue_refund", "arguments": arguments}}]
    said = {"role": "assistant", "content": text, **({"tool_calls": calls} if arguments is not None else {}), **message}
    return {"choices": [{"index": 0, "finish_reason": finish, "message": said}]}


def responses(status: str, *items: Any, reason: str | None = None) -> Any:
    return {"status": status, "incomplete_details": reason and {"reason": reason}, "output": list(items)}


def function_call(arguments: str, status: str = "completed") -> Any:
    return {"type": "function_call", "status": status, "call_id": "c", "name": "issue_refund", "arguments": arguments}


def said(*parts: Any) -> Any:
    return {"type": "message", "role": "assistant", "content": list(parts)}


def messages(stop: str, *blocks: Any, **more: Any) -> Any:
    return {"type": "message", "role": "assistant", "stop_reason": stop, "content": list(blocks), **more}


def tool_use(given: Any) -> Any:
    return {"type": "tool_use", "id": "t", "name": "issue_refund", "input": given}


def streamed(arguments: str, stop: str) -> Any:
    """A message put together from a stream that brought this text as the tool's input."""
    events = [
        {"type": "message_start", "message": messages("", content=[])},
        {"type": "content_block_start", "index": 0, "content_block": tool_use({})},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": arguments}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop}},
        {"type": "message_stop"},
    ]
    return dialect_for("messages").assemble(events).body


VOID = [
    ("chat.completions", "refused", chat("stop", refusal="I cannot do that.")),
    ("chat.completions", "filtered", chat("content_filter", "Some of it")),
    ("chat.completions", "truncated", chat("length", "The refund is")),
    ("chat.completions", "truncated", chat("length", arguments=CUT)),
    ("chat.completions", "filtered", chat("SAFETY", "Some of it")),
    ("chat.completions", "invalid", chat("stop", "")),
    ("chat.completions", "invalid", chat("error", "The refund is")),
    ("chat.completions", "invalid", chat("abort", arguments=json.dumps(WHOLE))),
    ("chat.completions", "invalid", chat("tool_calls", "I issue the refund.")),
    ("chat.completions", "invalid", chat("tool_calls", tool_calls=[{"function": {"name": " ", "arguments": "{}"}}])),
    ("responses", "refused", responses("completed", said({"type": "refusal", "refusal": "I cannot do that."}))),
    ("responses", "filtered", responses("incomplete", said({"type": "output_text", "text": "Some"}), reason="content_filter")),
    ("responses", "truncated", responses("incomplete", said({"type": "output_text", "text": "The"}), reason="max_output_tokens")),
    ("responses", "truncated", responses("incomplete", function_call(CUT, "incomplete"), reason="max_output_tokens")),
    ("responses", "invalid", responses("completed")),
    ("responses", "invalid", responses("incomplete", said({"type": "output_text", "text": "The"}))),
    ("responses", "invalid", responses("incomplete", said({"type": "output_text", "text": "The"}), reason="a new one")),
    ("responses", "invalid", responses("in_progress", said({"type": "output_text", "text": "The"}))),
    ("responses", "invalid", responses("cancelled", function_call(json.dumps(WHOLE)))),
    ("responses", "invalid", responses("completed", function_call(CUT, "incomplete"))),
    ("messages", "refused", messages("refusal", {"type": "text", "text": "Sorry."})),
    ("messages", "refused", messages("refusal")),
    ("messages", "truncated", messages("max_tokens", {"type": "text", "text": "The refund is"})),
    ("messages", "truncated", messages("model_context_window_exceeded", {"type": "text", "text": "The refund is"})),
    ("messages", "truncated", streamed(CUT, "max_tokens")),
    ("messages", "invalid", messages("end_turn")),
    ("messages", "invalid", messages("pause_turn", {"type": "text", "text": "I look it up."})),
    ("messages", "invalid", messages("tool_use", {"type": "text", "text": "I issue the refund."})),
]  # fmt: skip


@pytest.mark.parametrize("kind", DECISIONS)
@pytest.mark.parametrize(("api", "verdict", "body"), VOID)
def test_what_is_no_answer_is_counted_apart(api: str, verdict: str, body: Any, kind: str) -> None:
    [reply] = dialect_for(api).replies(body)
    outcome = judge(DECISIONS[kind], reply, [])
    assert outcome.verdict == verdict
    tally = count([outcome])
    assert (tally.n, tally.void) == (0, ((verdict, 1),))


@pytest.mark.parametrize(
    ("api", "body"),
    [
        ("chat.completions", chat("tool_calls", arguments="{order: 7, amount: two}")),
        ("responses", responses("completed", function_call("{order: 7, amount: two}"))),
        ("messages", streamed("{order: 7, amount: two}", "tool_use")),
    ],
)
def test_broken_arguments_count_for_the_tool_and_for_nothing_about_arguments(api: str, body: Any) -> None:
    [reply] = dialect_for(api).replies(body)
    assert judge(DECISIONS["tool"], reply, []).verdict == "same"
    for kind in ("exact", "args", "where", "match"):
        outcome = judge(DECISIONS[kind], reply, [])
        assert (outcome.verdict, outcome.action) == ("invalid", "calls issue_refund with arguments that are no JSON")


@pytest.mark.parametrize(
    ("api", "body"),
    [
        ("chat.completions", chat("length", arguments=json.dumps(WHOLE))),
        ("responses", responses("incomplete", function_call(json.dumps(WHOLE)), reason="max_output_tokens")),
        ("messages", messages("max_tokens", tool_use(WHOLE))),
    ],
)
def test_a_whole_call_before_the_limit_is_the_decision(api: str, body: Any) -> None:
    [reply] = dialect_for(api).replies(body)
    assert {judge(decision, reply, []).verdict for decision in DECISIONS.values()} == {"same"}


@pytest.mark.parametrize("given", [{}, {"order": 7}, {"order": 7, "amount": 2}])
def test_a_cut_call_that_happens_to_be_json_is_not_one_with_other_arguments(given: Any) -> None:
    [reply] = dialect_for("messages").replies(messages("max_tokens", tool_use(given)))
    assert {judge(DECISIONS[kind], reply, []).verdict for kind in ("exact", "args", "where", "match")} == {"truncated"}
