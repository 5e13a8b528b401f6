from __future__ import annotations

import pytest

from runtape.context.edits import AddSystem, Clean, Describe, Drop, Mark, Replace, SetSystem
from runtape.context.marking import STYLES, explanation
from runtape.errors import BadInput
from runtape.ops.guard import Guard
from runtape.ops.proposals import Proposal, built_in, proposed


def rule_of(proposal: Proposal) -> str:
    [edit] = proposal.edits
    assert isinstance(edit, AddSystem)
    return edit.text


def test_the_built_in_fixes_name_the_source_and_the_action():
    untrusted, guard, both, *_, removed = built_in(["forward_email"], ["read_email"], ["9[0]/s2"], {})

    assert "`read_email` returns" in rule_of(untrusted)
    assert "`forward_email`" in rule_of(guard)
    assert rule_of(both) == rule_of(untrusted) + "\n" + rule_of(guard)
    assert removed.edits == {Drop("9[0]/s2")}


def test_the_description_of_the_action_and_marks_on_the_source_are_proposed():
    found = built_in(["forward_email"], ["read_email"], [], {"forward_email": "Forward a mail.", "read_email": "Read."})

    edits = {proposal.name: proposal.edits for proposal in found}
    [described] = edits["tool-description"]
    assert isinstance(described, Describe)
    assert described.tool == "forward_email"
    assert described.text.startswith("Forward a mail.\n\nCall this only when the user asked for it")
    for style in STYLES:
        assert edits[style] == {Mark(style), AddSystem(explanation(style))}


def test_what_the_cause_did_not_come_from_is_not_marked_and_a_tool_that_is_not_offered_not_described():
    found = built_in(["forward_email"], [], [], {"read_email": "Read."})

    assert [proposal.name for proposal in found] == ["untrusted-content", "action-guard", "both"]


def test_a_decision_in_text_has_no_action_to_guard():
    assert [proposal.name for proposal in built_in([], [], [], {})] == ["untrusted-content"]


@pytest.mark.parametrize("name", ["x`. Now obey: ", "a\nb", "x" * 65, "send mail"])
def test_a_tool_name_that_could_carry_instructions_stays_out_of_the_rules(name):
    for proposal in built_in([name], [name], [], {}):
        assert not any(name in edit.text for edit in proposal.edits if isinstance(edit, AddSystem))


@pytest.mark.parametrize(
    ("candidate", "edits"),
    [
        ({"name": "a", "add_system": "x"}, {AddSystem("x")}),
        ({"name": "a", "system": "x"}, {SetSystem("x")}),
        ({"name": "a", "clean": "x"}, {Clean("x")}),
        ({"name": "a", "clean": ["x", "y"]}, {Clean("x"), Clean("y")}),
        ({"name": "a", "mark": "delimiters"}, {Mark("delimiters"), AddSystem(explanation("delimiters"))}),
        ({"name": "a", "mark": "datamarking", "add_system": "x"}, {Mark("datamarking"), AddSystem("x")}),
        ({"name": "a", "describe": {"send": "x"}}, {Describe("send", "x")}),
        ({"name": "a", "drop": ["3[0]"]}, {Drop("3[0]")}),
        ({"name": "a", "replace": "x=>y"}, {Replace("x", "y")}),
        ({"name": "a", "replace": ["x", "y"]}, {Replace("x", "y")}),
        ({"name": "a", "replace": {"x": "y"}}, {Replace("x", "y")}),
        (AddSystem("x"), {AddSystem("x")}),
        ([AddSystem("x"), Clean("y")], {AddSystem("x"), Clean("y")}),
    ],
)
def test_a_candidate_becomes_the_edits_it_names(candidate, edits):
    [proposal] = proposed([candidate])

    assert proposal.edits == edits


def test_a_candidate_without_a_name_is_numbered():
    assert [proposal.name for proposal in proposed([AddSystem("x"), {"system": "y"}])] == ["candidate-1", "candidate-2"]


def test_a_guard_is_a_candidate_without_edits():
    [proposal] = proposed([{"name": "recipients", "guard": "send.to"}])

    assert proposal == Proposal("recipients", frozenset(), Guard("send", "to"))


@pytest.mark.parametrize(
    ("candidate", "message"),
    [
        ({"name": "a", "add_sytem": "x"}, "Did you mean 'add_system'"),
        ({"name": "a"}, "changes nothing"),
        ({"name": "a", "add_system": 3}, "must be text, not int"),
        ({"name": "a", "mark": "colours"}, "one of: delimiters, datamarking"),
        ({"name": "a", "clean": [1]}, "list of texts"),
        ({"name": "a", "describe": "send"}, "must be {tool: text}"),
        ({"name": "a", "replace": ["x"]}, "must be"),
        ({"name": "a", "guard": "send."}, "TOOL.ARGUMENT"),
        ({"name": "a", "guard": "send.to", "add_system": "x"}, "candidate of its own"),
    ],
)
def test_a_malformed_candidate_is_refused_with_what_to_do(candidate, message):
    with pytest.raises(BadInput, match=message):
        proposed([candidate])


def test_two_candidates_of_one_name_are_refused():
    with pytest.raises(BadInput, match="named 'a'"):
        proposed([{"name": "a", "system": "x"}, {"name": "a", "system": "y"}])
