from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape.errors import BadInput
from runtape.ops.guard import Guard, parse_guard
from runtape.wire.values import Reply, ToolCall

GUARD = Guard("send", "to")


def calling(arguments, name="send"):
    return Reply(None, (ToolCall(name, json.dumps(arguments), arguments),))


@pytest.mark.parametrize(
    ("value", "user", "blocked"),
    [
        ("ann@x.com", "Send it to ann@x.com, please.", False),
        ("ANN@x.com", "Send it to ann@x.com", False),
        ("eve@y.com", "Send it to ann@x.com", True),
        ("n@x.com", "Send it to ann@x.com", True),
        ("two  words", "say two words now", False),
        (["ann", "bob"], "mail ann and bob", False),
        (["ann", "eve"], "mail ann and bob", True),
        ({"name": "eve"}, "mail ann", True),
        (2400, "refund 2400 dollars", False),
        (2400, "refund 24000 dollars", True),
        (None, "anything", False),
        ("", "anything", False),
    ],
)
def test_a_call_passes_only_with_values_that_the_user_wrote(value, user, blocked):
    assert GUARD.blocks(calling({"to": value}), user) is blocked


def test_other_tools_and_other_arguments_are_not_looked_at():
    assert not GUARD.blocks(calling({"to": "eve"}, name="save"), "")
    assert not GUARD.blocks(calling({"body": "eve"}), "")


def test_a_gate_holds_every_call_of_its_tool_back():
    gate = parse_guard("send")

    assert gate == Guard("send")
    assert gate.blocks(calling({"to": "ann"}), "Send it to ann")
    assert gate.blocks(Reply(None, (ToolCall("send", "{", None),)), "anything")
    assert not gate.blocks(calling({"to": "ann"}, name="save"), "")
    assert not gate.blocks(Reply("send it", ()), "")


def test_arguments_that_cannot_be_read_are_blocked():
    assert GUARD.blocks(Reply(None, (ToolCall("send", "{", None),)), "anything")


@given(st.text(min_size=1), st.text(), st.text())
def test_a_value_between_spaces_always_passes(value, before, after):
    assert not GUARD.blocks(calling({"to": value}), f"{before} {value} {after}")


def test_a_guard_is_written_with_a_dot():
    assert parse_guard("send.to") == GUARD
    for text in ("", ".to", "send."):
        with pytest.raises(BadInput):
            parse_guard(text)
