from __future__ import annotations

import pytest
from drawn_replies import call, calling

from runtape.decision.choose import choose
from runtape.errors import BadInput, NotADecision
from runtape.wire.values import Reply, ToolCall


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
        (saying(""), "it is empty"),
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


REFUND = call("issue_refund", {"order": {"id": 7, "items": [{"price": 9.0}]}, "amount": 2000, "user id": "u1"})


@pytest.mark.parametrize(
    ("args", "again", "same"),
    [
        (["amount"], {"amount": 2000.0, "order": None}, True),
        (["amount"], {"amount": "2000"}, False),
        (["amount"], {}, False),
        (["order.id"], {"order": {"id": 7}}, True),
        (["order.items[0].price"], {"order": {"items": [{"price": 9}, 1]}}, True),
        (["/order/items/0/price"], {"order": {"items": [{"price": 9}]}}, True),
        (["order.items[-1].price"], {"order": {"items": [{"price": 8}]}}, False),
        (["/user id"], {"user id": "u1"}, True),
        (["amount", "order.id"], {"amount": 2000, "order": {"id": 8}}, False),
    ],
)
def test_only_the_named_arguments_are_compared(args, again, same) -> None:
    decision = choose(calling(REFUND), args=args, event=9)
    assert decision.matcher.matches(calling(call("issue_refund", again))) is same
    assert not decision.matcher.matches(calling(call("other", again)))


def test_the_label_names_what_matters() -> None:
    assert (
        choose(calling(REFUND), args=["amount", "order.id"], event=9).label
        == "calls issue_refund with the same amount and order.id"
    )
    assert choose(calling(REFUND), where="amount > 1000", event=9).label == "calls issue_refund where amount > 1000"
    judged = choose(saying("Done."), judged_by="a model asked 'Is it done?'", event=9)
    assert judged.label == "answers, judged so by a model asked 'Is it done?'"


def test_a_condition_picks_the_calls_for_which_it_holds() -> None:
    small = call("issue_refund", {"amount": 5})
    decision = choose(calling(ARCHIVE, REFUND, small), where="amount > 1000", event=9)
    assert (decision.tools, decision.calls) == (("issue_refund",), (REFUND,))
    assert decision.matcher.matches(calling(call("issue_refund", {"amount": 1001})))
    assert not decision.matcher.matches(calling(small, call("archive_email", {"amount": 5000})))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            {"args": ["amuont"]},
            r"has an argument 'amuont': issue_refund has order, amount, user id\. Did you mean 'amount'",
        ),
        ({"args": ["order.total"]}, "has an argument 'order.total'"),
        ({"where": "amount > 5000"}, r"'amount > 5000' does not hold .* calls 'issue_refund' with: amount is 2000\."),
        ({"where": "total > 5 and order.id == 8"}, "total is not there, order.id is 7"),
    ],
)
def test_the_recorded_call_must_be_what_is_asked_for(options, reason) -> None:
    with pytest.raises(NotADecision, match=reason):
        choose(calling(REFUND), event=9, **options)


@pytest.mark.parametrize("options", [{"args": ["amount"]}, {"where": "amount > 1"}, {"exact_args": True}])
def test_arguments_need_a_call(options) -> None:
    with pytest.raises(NotADecision, match="calls no tool"):
        choose(saying("Done."), event=9, **options)


def test_all_arguments_and_some_exclude_each_other() -> None:
    with pytest.raises(BadInput, match="Give one of them"):
        choose(calling(REFUND), exact_args=True, args=["amount"], event=9)


@pytest.mark.parametrize("path", ["", "a b", "a..b", "a[", "a[x]", "/a~2", "a" * 301, "amount > 3", "1a"])
def test_what_is_no_path_is_refused(path) -> None:
    with pytest.raises(BadInput, match="is no path"):
        choose(calling(REFUND), args=[path], event=9)
