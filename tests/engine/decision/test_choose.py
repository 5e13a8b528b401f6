from __future__ import annotations

import json

import pytest

from runtape.decision.choose import choose
from runtape.errors import NotADecision
from runtape.wire.values import Json, Reply, ToolCall


def call(name: str, arguments: Json) -> ToolCall:
    return ToolCall(name, json.dumps(arguments), arguments)


def calling(*calls: ToolCall, text: str | None = None) -> Reply:
    return Reply(text, calls, stop="tool_calls")


def saying(text: str | None) -> Reply:
    return Reply(text, stop="end")


FORWARD = call("forward_email", {"id": 402, "to": "ledger@x.example"})
ARCHIVE = call("archive_email", {"id": 402})


def test_one_call_makes_its_tool_the_decision() -> None:
    decision = choose(calling(FORWARD), event=9)
    assert (decision.label, decision.tools) == ("calls forward_email", ("forward_email",))
    assert decision.matcher.matches(calling(call("forward_email", {}), ARCHIVE))
    assert not decision.matcher.matches(calling(ARCHIVE))


def test_several_calls_must_all_be_made_again() -> None:
    decision = choose(calling(FORWARD, ARCHIVE), event=9)
    assert decision.label == "calls forward_email and archive_email"
    assert decision.matcher.matches(calling(ARCHIVE, FORWARD))
    assert not decision.matcher.matches(calling(FORWARD))


def test_a_named_tool_is_the_only_one_that_counts() -> None:
    decision = choose(calling(FORWARD, ARCHIVE), tool="archive_email", event=9)
    assert decision.tools == ("archive_email",)
    assert decision.matcher.matches(calling(ARCHIVE))


def test_a_reply_without_a_call_is_an_answer_in_text() -> None:
    decision = choose(saying("All done."), event=9)
    assert (decision.label, decision.tools) == ("answers in text", ())
    assert decision.matcher.matches(saying("Something else."))
    assert not decision.matcher.matches(calling(FORWARD, text="I forward it."))
    assert not decision.matcher.matches(saying("  "))


def test_a_pattern_on_text_is_searched_in_text() -> None:
    decision = choose(saying("Your refund is approved."), match=r"refund.*approved", event=9)
    assert decision.label == "says 'refund.*approved'"
    assert decision.matcher.matches(saying("The refund was approved today."))
    assert not decision.matcher.matches(saying("Denied."))


def test_a_pattern_on_a_call_is_searched_in_the_arguments_of_the_deciding_tool() -> None:
    decision = choose(calling(FORWARD), match="ledger@", event=9)
    assert decision.label == "calls forward_email with 'ledger@'"
    assert not decision.matcher.matches(calling(call("forward_email", {"to": "dana@x.example"}), text="not to ledger@"))
    assert not decision.matcher.matches(calling(call("forward_email", {}), call("note", {"text": "ledger@"})))
    assert decision.matcher.matches(calling(call("forward_email", {"to": "ledger@y.example"})))


def test_a_pattern_that_stands_in_the_text_beside_a_call_is_searched_there() -> None:
    decision = choose(calling(FORWARD, text="Sending it to accounting."), match="accounting", event=9)
    assert decision.label == "calls forward_email and says 'accounting'"
    assert decision.matcher.matches(calling(FORWARD, text="To accounting."))
    assert not decision.matcher.matches(calling(call("forward_email", {"to": "accounting"})))


def test_a_pattern_is_also_searched_with_the_escapes_resolved() -> None:
    decision = choose(calling(call("send", {"text": "счёт"})), match="счёт", event=9)
    assert decision.matcher.matches(calling(ToolCall("send", '{"text": "счёт №2"}', {"text": "счёт №2"})))


def test_a_pattern_is_searched_in_the_whole_text() -> None:
    assert choose(saying("a" * 1_000_000 + " approved"), match="approved", event=9)
    with pytest.raises(NotADecision, match="'denied' is not in what the reply of event 9 says"):
        choose(saying("a" * 1_000_000 + " approved"), match="denied", event=9)


@pytest.mark.parametrize(
    ("recorded", "again", "same"),
    [
        ('{"a": 1, "b": [1, 2]}', '{"b":[1.0,2e0],"a":1}', True),
        ('{"a": 1}', '{"a": true}', False),
        ('{"a": 1}', '{"a": "1"}', False),
        ('{"a": [1, 2]}', '{"a": [2, 1]}', False),
        ('{"a": 0.1}', '{"a": 0.10}', True),
        ("", "{}", True),
        ("   ", "", True),
        ("null", "", False),
        ('{"p": "x', '{"p": "x', True),
        ('{"p": "x', '{"p": "x"}', False),
        ("[1,2]", "[1, 2]", True),
        ('"text"', ' "text" ', True),
        ("3", "3.0", True),
        ('{"a":1}{"a":2}', '{"a":1}{"a":2}', True),
        ('{"a":1,"a":2}', '{"a":2}', True),
        ("[" * 100_000, "[" * 100_000, True),
        ('{"n": 100000000000000000001}', '{"n": 100000000000000000002}', False),
    ],
)
def test_exact_arguments_are_compared_as_json(recorded: str, again: str, same: bool) -> None:
    decision = choose(calling(ToolCall("pay", recorded, None)), exact_args=True, event=9)
    assert decision.matcher.matches(calling(ToolCall("pay", again, None))) is same


def test_exact_arguments_hold_for_every_deciding_call() -> None:
    twice = call("pay", {"to": "a"}), call("pay", {"to": "b"})
    decision = choose(calling(*twice), exact_args=True, event=9)
    assert decision.label == "calls pay with the same arguments"
    assert decision.matcher.matches(calling(*reversed(twice)))
    assert not decision.matcher.matches(calling(twice[0]))


def test_equal_decisions_have_equal_hashable_rules() -> None:
    one, other = (choose(calling(FORWARD), match="ledger", exact_args=True, event=event) for event in (1, 2))
    assert one == other
    assert len({one.matcher, other.matcher}) == 1


def test_a_tool_that_was_not_called_is_named_beside_the_ones_that_were() -> None:
    with pytest.raises(
        NotADecision, match=r"event 9 does not call 'delete': it calls forward_email\. Pass 'forward_email'"
    ):
        choose(calling(FORWARD), tool="delete", event=9)
    with pytest.raises(NotADecision, match=r"does not call 'delete': it answers in text\. Leave out the tool"):
        choose(saying("Done."), tool="delete", event=9)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (saying(""), "neither text nor a tool call"),
        (Reply(None, refusal="I cannot help.", stop="refusal"), "it is a refusal"),
        (Reply("Once upon", stop="length"), "cut at its token limit"),
        (Reply("", stop="filter"), "filter withheld it"),
    ],
)
def test_a_reply_that_decides_nothing_is_no_decision(reply: Reply, reason: str) -> None:
    with pytest.raises(NotADecision, match=reason):
        choose(reply, event=9)


def test_exact_arguments_need_a_call() -> None:
    with pytest.raises(NotADecision, match="calls no tool, so it has no arguments to compare"):
        choose(saying("Done."), exact_args=True, event=9)
