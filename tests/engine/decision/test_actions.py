from __future__ import annotations

import pytest
from drawn_replies import call, calling

from runtape.decision.actions import earlier_calls, is_for_the_judge, judge
from runtape.decision.choose import choose
from runtape.decision.wording import decision_text
from runtape.stats.tally import Outcome
from runtape.wire.values import JsonObject, Reply, Request, ToolCall

FORWARD = call("forward_email", {"to": "ledger@x.example"})
READ = call("read_email", {"id": 402})
DECISION = choose(calling(FORWARD), event=9)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (calling(FORWARD), Outcome("same", "calls forward_email")),
        (calling(call("archive_email")), Outcome("other", "calls archive_email")),
        (calling(call("read_email", {"id": 402.0})), Outcome("stop", "calls read_email again")),
        (calling(call("read_email", {"id": 7})), Outcome("other", "calls read_email")),
        (calling(READ, call("archive_email")), Outcome("other", "calls read_email, archive_email")),
        (Reply("It is done.", stop="end"), Outcome("stop", "answers in text")),
        (Reply("Shall I forward it?", stop="end"), Outcome("stop", "asks")),
        (Reply("転送しますか？", stop="end"), Outcome("stop", "asks")),  # noqa: RUF001 - a question in Japanese
        (Reply("", stop="filter"), Outcome("filtered", "withheld by the provider's filter")),
        (calling(FORWARD, text="x"), Outcome("same", "calls forward_email")),
        (Reply("I can", stop="length"), Outcome("truncated", "cut at the token limit")),
        (Reply(None, (FORWARD,), stop="length"), Outcome("same", "calls forward_email")),
        (Reply(None, (ToolCall("forward_email", '{"to": "led', None),), stop="length"), Outcome("truncated", "cut at the token limit")),
        (Reply(None, (call("archive_email"),), stop="length"), Outcome("truncated", "cut at the token limit")),
        (Reply(None, refusal="No.", stop="end"), Outcome("refused", "refuses")),
        (Reply(None, stop="refusal"), Outcome("refused", "refuses")),
        (Reply(None, stop="end"), Outcome("invalid", "is empty")),
        (Reply("\n ", stop="end"), Outcome("invalid", "is empty")),
    ],
)  # fmt: skip
def test_what_a_reply_did(reply: Reply, expected: Outcome) -> None:
    assert judge(DECISION, reply, [READ]) == expected


def test_the_decision_again_is_the_same_even_if_the_call_was_made_before() -> None:
    assert judge(DECISION, calling(FORWARD), [FORWARD]).verdict == "same"


@pytest.mark.parametrize(
    ("options", "arguments", "told"),
    [
        ({"exact_args": True}, {"order": 7, "amount": 20}, "with amount 20 instead of 2000"),
        ({"exact_args": True}, {"order": 7}, "without amount"),
        ({"exact_args": True}, {"order": 8, "amount": 5, "note": "x"}, "with order 8 instead of 7 and with amount 5 instead of 2000 and 1 more"),
        ({"args": ["amount"]}, {"order": 8, "amount": 20}, "with amount 20 instead of 2000"),
        ({"args": ["amount"]}, {"order": 7, "amount": "a" * 99}, "with another amount"),
        ({"where": "amount > 1000"}, {"order": 8, "amount": 20}, "with amount 20 instead of 2000"),
        ({"match": "2000"}, {"order": 7, "amount": 20}, "with other arguments"),
    ],
)  # fmt: skip
def test_the_same_tool_with_other_arguments_is_an_action_of_its_own(options, arguments, told) -> None:
    decision = choose(calling(call("issue_refund", {"order": 7, "amount": 2000})), event=9, **options)
    outcome = judge(decision, calling(call("issue_refund", arguments)), [])
    assert outcome == Outcome("other", f"calls issue_refund {told}")


def test_of_several_calls_none_is_compared_with_the_recorded_one() -> None:
    decision = choose(calling(FORWARD), exact_args=True, event=9)
    two = calling(call("forward_email", {"to": "a"}), call("forward_email", {"to": "b"}))
    assert judge(decision, two, []) == Outcome("other", "calls forward_email with other arguments")


@pytest.mark.parametrize(
    "options", [{"exact_args": True}, {"args": ["to"]}, {"where": "to contains 'x'"}, {"match": "ledger"}]
)
def test_arguments_that_are_no_json_are_an_outcome_of_their_own(options) -> None:
    decision = choose(calling(FORWARD), event=9, **options)
    broken = Outcome("invalid", "calls forward_email with arguments that are no JSON")
    assert judge(decision, calling(ToolCall("forward_email", '{"to": nobody', None)), []) == broken
    assert judge(decision, calling(call("archive_email"), ToolCall("forward_email", "to: x", None)), []) == broken
    assert judge(decision, calling(ToolCall("archive_email", "{", None)), []).verdict == "other"
    assert judge(DECISION, calling(ToolCall("forward_email", '{"to": nobody', None)), []).verdict == "same"


def test_free_text_for_a_tool_that_takes_text_is_compared_as_it_stands() -> None:
    decision = choose(calling(ToolCall("run", "rm -r x", None)), exact_args=True, event=9)
    assert judge(decision, calling(ToolCall("run", "rm -r x", None)), []).verdict == "same"
    assert judge(decision, calling(ToolCall("run", "ls", None)), []).verdict == "other"


def test_an_equal_earlier_call_fetches_again_also_where_arguments_matter() -> None:
    decision = choose(calling(call("read_email", {"id": 5})), args=["id"], event=9)
    assert judge(decision, calling(READ), [READ]) == Outcome("stop", "calls read_email again")


def test_a_judge_decides_about_the_replies_that_the_rest_lets_through() -> None:
    decision = choose(Reply("You get your money back.", stop="end"), judged_by="somebody", event=9)
    said = Reply("Yes.", stop="end")
    assert is_for_the_judge(decision, said)
    assert judge(decision, said, [], ruling=True) == Outcome("same", "answers in text")
    assert judge(decision, said, [], ruling=False) == Outcome("stop", "answers in text")
    assert judge(decision, said, []) == Outcome("unjudged", "was judged neither way")
    for void in (Reply("Y", stop="length"), Reply(None, refusal="No.", stop="end"), Reply("", stop="filter")):
        assert not is_for_the_judge(decision, void)
    calls = choose(calling(FORWARD, text="Sure."), tool="forward_email", judged_by="somebody", event=9)
    assert not is_for_the_judge(calls, said)
    assert judge(calls, said, []) == Outcome("stop", "answers in text")


def test_a_set_of_tools_called_in_part_is_another_action() -> None:
    both = choose(calling(FORWARD, call("archive_email")), event=9)
    assert judge(both, calling(FORWARD), []) == Outcome("other", "calls forward_email")


def test_a_call_instead_of_an_answer_in_text_is_another_action() -> None:
    answer = choose(Reply("Done.", stop="end"), event=9)
    assert judge(answer, calling(FORWARD), []) == Outcome("other", "calls forward_email")
    assert judge(answer, calling(READ), [READ]) == Outcome("stop", "calls read_email again")


def test_another_answer_than_the_wanted_one_stops_short_of_it() -> None:
    approved = choose(Reply("Approved.", stop="end"), match="Approved", event=9)
    assert judge(approved, Reply("Denied.", stop="end"), []) == Outcome("stop", "answers in text")


def test_an_action_stays_short_whatever_the_tools_are_called() -> None:
    outcome = judge(DECISION, calling(*(call(f"{'long_name_' * 30}{number}") for number in range(50))), [])
    assert len(outcome.action) < 160
    assert outcome.action.endswith("and 47 more")


CALLS: dict[str, JsonObject] = {
    "chat.completions": {
        "messages": [
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "read", "arguments": '{"id": 1}'}},
                    {"id": "b", "type": "custom", "custom": {"name": "run", "input": "ls -l"}},
                    {"id": "c", "type": "function", "function": {"arguments": "{}"}},
                ],
            },
            {"role": "tool", "tool_call_id": "a", "content": "one"},
            {"role": "assistant", "content": None, "function_call": {"name": "old", "arguments": "{}"}},
        ]
    },
    "responses": {
        "input": [
            {"role": "user", "content": "Hi"},
            {"type": "function_call", "name": "read", "arguments": '{"id": 1}', "call_id": "a"},
            {"type": "function_call_output", "call_id": "a", "output": "one"},
            {"type": "custom_tool_call", "name": "run", "input": "ls -l", "call_id": "b"},
            {"type": "function_call", "name": "old", "arguments": "{}", "call_id": "c"},
        ]
    },
    "messages": {
        "messages": [
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Reading."},
                    {"type": "tool_use", "id": "a", "name": "read", "input": {"id": 1}},
                    {"type": "tool_use", "id": "b", "name": "run", "input": "ls -l"},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "one"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "old", "input": {}}]},
        ]
    },
}


@pytest.mark.parametrize("api", sorted(CALLS))
def test_earlier_calls_are_read_from_the_request_of_every_api(api: str) -> None:
    found = earlier_calls(Request("any", api, None, CALLS[api]))
    assert [(made.name, made.arguments if made.name != "run" else made.text) for made in found] == [
        ("read", {"id": 1}),
        ("run", "ls -l"),
        ("old", {}),
    ]
    assert judge(DECISION, calling(call("read", {"id": 1})), found).verdict == "stop"


def test_the_words_of_a_decision_are_its_tools_and_values() -> None:
    reply = calling(
        call("pay", {"to": "acc-1", "sums": [2400, {"fee": 1.5}], "now": True, "memo": None}),
        ToolCall("run", "ls -l", None),
        text="Paying.",
    )
    assert decision_text(reply) == "pay\nacc-1\n2400\n1.5\nrun\nls -l"
    assert decision_text(Reply("It is approved.")) == "It is approved."
    assert decision_text(Reply(None)) == ""
