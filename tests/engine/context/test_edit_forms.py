from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape import canon
from runtape.context.edit_forms import in_words, order, parsed, spelled
from runtape.context.edits import AddSystem, Clean, Describe, Drop, Mark, Replace, SetModel, SetSystem
from runtape.context.marking import STYLES
from runtape.errors import BadInput

TEXT = st.text(max_size=20)
EDITS = st.one_of(
    st.builds(Drop, TEXT),
    st.builds(Clean, TEXT),
    st.builds(Mark, st.sampled_from(STYLES)),
    st.builds(Describe, TEXT, TEXT),
    st.builds(Replace, TEXT, TEXT),
    st.builds(SetSystem, TEXT),
    st.builds(AddSystem, TEXT),
    st.builds(SetModel, TEXT),
)


@given(EDITS)
def test_every_edit_reads_back_from_a_file_as_it_was(edit):
    assert parsed(canon.loads(canon.dumps(spelled(edit)))) == edit


@pytest.mark.parametrize("value", [None, "drop", {}, {"drop": 3}, {"replace": ["a"]}, {"paint": "it black"}])
def test_what_is_no_edit_is_refused(value):
    with pytest.raises(BadInput, match="no edit"):
        parsed(value)


@given(st.lists(EDITS))
def test_recorded_texts_change_before_the_prompt_and_the_prompt_before_the_model(edits):
    kinds = [type(edit) for edit in sorted(edits, key=order)]
    expected = [
        kind
        for kind in (Drop, Clean, Replace, Mark, Describe, SetSystem, AddSystem, SetModel)
        for k in kinds
        if k is kind
    ]
    assert kinds == expected


def test_a_long_text_is_shortened_where_asked():
    assert len(in_words(Clean("x" * 500), 80)) < 150
    assert "x" * 500 in in_words(Clean("x" * 500))
