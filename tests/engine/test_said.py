from __future__ import annotations

import copy
import json
import pickle

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape.said import Quoted, Said, joined, parts_of


@given(st.lists(st.text() | st.text().map(Quoted)))
def test_it_is_the_joined_text_for_everyone_who_does_not_ask(parts: list[str]) -> None:
    said = Said(*parts)
    assert said == "".join(parts)
    assert parts_of(said) == tuple(parts)
    assert json.loads(json.dumps(said)) == "".join(parts)


def test_what_quotes_keeps_quoting_inside_another_text() -> None:
    inner = Said("answered as ", Quoted("m"))
    outer = joined("; ", [inner, Said("cut"), "from nobody knows where"])
    assert outer == "answered as m; cut; from nobody knows where"
    assert [part for part in outer.parts if isinstance(part, Quoted)] == ["m", "from nobody knows where"]


def test_a_text_that_does_not_know_its_parts_is_quoted_whole() -> None:
    [part] = parts_of("anything")
    assert isinstance(part, Quoted)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda said: pickle.loads(pickle.dumps(said))])
def test_a_copy_quotes_what_the_original_quotes(copied) -> None:
    said = Said("answered as ", Quoted("m"))
    again = copied(said)
    assert again == said
    assert again.parts == said.parts
    assert isinstance(again.parts[1], Quoted)


def test_it_is_written_as_json_text() -> None:
    assert orjson.dumps(Said("a", Quoted("b"))) == b'"ab"'
