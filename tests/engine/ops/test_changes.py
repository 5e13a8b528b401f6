from __future__ import annotations

import pytest

from runtape.context.edits import AddSystem, Clean, Drop, Replace, SetModel, SetSystem
from runtape.errors import BadInput
from runtape.ops.changes import changes, in_words


def test_each_argument_becomes_the_edit_it_names():
    edits = changes(
        drop=["3[0]/s1", "4[0]"],
        replace={"Friday": "Monday"},
        system="Be brief.",
        add_system="Ask first.",
        clean="<!-- x -->",
        model_name="m2",
    )

    assert edits == {
        Drop("3[0]/s1"),
        Drop("4[0]"),
        Replace("Friday", "Monday"),
        SetSystem("Be brief."),
        AddSystem("Ask first."),
        Clean("<!-- x -->"),
        SetModel("m2"),
    }


def test_no_argument_is_no_edit():
    assert changes() == frozenset()


@pytest.mark.parametrize("replace", [{"a": "b"}, ("a", "b"), "a=>b"])
def test_a_replacement_has_three_equal_forms(replace):
    assert changes(replace=replace) == {Replace("a", "b")}


def test_the_first_arrow_of_a_replacement_divides_it():
    assert changes(replace="x => y=>z") == {Replace("x ", " y=>z")}


@pytest.mark.parametrize("replace", ["no arrow", "=>new", ("", "new"), {"": "new"}])
def test_a_replacement_without_an_old_text_is_refused(replace):
    with pytest.raises(BadInput):
        changes(replace=replace)


def test_one_reference_need_not_be_a_list():
    assert changes(drop="3[0]") == {Drop("3[0]")}


def test_an_edit_and_several_edits_are_taken_as_they_are():
    assert changes(edit=Clean("x")) == {Clean("x")}
    assert changes(edit=[Clean("x"), AddSystem("y")]) == {Clean("x"), AddSystem("y")}


def test_one_change_of_the_prompt_is_described_by_its_text():
    assert in_words({AddSystem("Ask first.")}) == "Ask first."
    assert in_words({Drop("3[0]"), AddSystem("Ask.")}) == "add to the system prompt: Ask.\nleave out 3[0]"
