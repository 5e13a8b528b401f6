from __future__ import annotations

import hashlib
import json
import math
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtape.canon import digest, dumps, loads

law = settings(deadline=None)  # a shared machine stalls now and then
pair = re.compile("[\ud800-\udbff][\udc00-\udfff]")
texts = st.text(st.characters(), max_size=8).filter(lambda text: not pair.search(text))  # lone surrogates included
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


def same(one: Any, other: Any) -> bool:
    """Equal, and of the same types: 1, 1.0 and True are three values."""
    return repr(one) == repr(other)


@law
@given(values)
def test_what_is_written_reads_back_as_the_same_value(value: Any) -> None:
    data = dumps(value)
    assert same(loads(data), value)
    assert same(loads(data.decode()), value)


@law
@given(values)
def test_what_is_written_is_one_line_that_a_strict_reader_accepts(value: Any) -> None:
    data = dumps(value)
    assert b"\n" not in data
    assert same(json.loads(data.decode("utf-8"), parse_constant=pytest.fail), value)


@law
@given(values)
def test_the_digest_does_not_see_the_order_of_keys(value: Any) -> None:
    def turned(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: turned(item) for key, item in reversed(part.items())}
        return [turned(item) for item in part] if isinstance(part, list) else part

    assert digest(turned(value)) == digest(value)


@law
@given(values, values)
def test_values_that_are_written_differently_have_different_digests(one: Any, other: Any) -> None:
    def written(value: Any) -> str:
        return json.dumps(value, sort_keys=True)

    assert (digest(one) == digest(other)) == (written(one) == written(other))


def test_the_digest_is_the_same_on_every_machine() -> None:
    assert digest({"b": [1, 2.5, None], "a": "ü"}) == hashlib.sha256('{"a":"ü","b":[1,2.5,null]}'.encode()).hexdigest()


@pytest.mark.parametrize("number", [2**63, 2**64 - 1, 2**64, -(2**63) - 1, 10**400, 12345678901234567890123])
def test_integers_are_never_rounded(number: int) -> None:
    assert same(loads(f'{{"n": [{number}]}}'), {"n": [number]})
    assert loads(dumps({"n": number})) == {"n": number}


def test_an_integer_of_five_thousand_digits_is_kept_as_its_digits() -> None:
    assert loads("9" * 5000) == "9" * 5000


def test_digits_inside_text_and_fractions_stay_what_they_are() -> None:
    value = {"id": "1234567890123456789012345", "x": 0.1234567890123456789012, "y": 1e22}
    assert same(loads(json.dumps(value)), value)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400"])
def test_numbers_that_json_lacks_are_read_as_null(text: str) -> None:
    assert loads(f'[{text}, 1, {2**70}, "\\ud83d"]') == [None, 1, 2**70, "\ud83d"]


@pytest.mark.parametrize("beside", ["", "\ud83d", 2**70])
def test_numbers_that_json_lacks_are_written_as_null(beside: Any) -> None:
    assert loads(dumps({"a": [math.nan, math.inf, -math.inf], "b": beside})) == {"a": [None, None, None], "b": beside}


@pytest.mark.parametrize("text", ["ab\ud83d", "\udc88", "\ude00\ud83d", "\x00 \u2028 \u0085", "😀"])
def test_lone_surrogates_and_odd_characters_come_back_as_key_and_value(text: str) -> None:
    data = dumps({text: text})
    assert loads(data) == json.loads(data.decode("utf-8")) == {text: text}


def test_halves_that_stand_side_by_side_become_the_character_they_make() -> None:
    assert loads(dumps("\ud83d\ude00")) == "😀"


def test_a_byte_order_mark_is_skipped() -> None:
    assert loads(b'\xef\xbb\xbf{"a": 1}') == loads('\ufeff{"a": 1}') == {"a": 1}


def test_of_equal_keys_the_last_one_counts() -> None:
    assert loads('{"a": 1, "a": 2}') == {"a": 2}


@pytest.mark.parametrize(
    ("levels", "inner"), [(254, "1"), (255, "1"), (1000, "1"), (300, str(2**64)), (300, '"\\ud83d"')]
)
def test_everything_that_can_be_read_can_be_written(levels: int, inner: str) -> None:
    text = "[" * levels + inner + "]" * levels
    assert dumps(loads(text)).decode() == text


@pytest.mark.parametrize(
    "data", ["[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 100_000, "[" * 5000 + "1e400" + "]" * 5000]
)
def test_nesting_without_end_is_refused(data: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        loads(data)
    with pytest.raises(ValueError, match=r"."):
        loads(data.encode())


@pytest.mark.parametrize(
    "data", [b"", b"   ", b"{", b"{'a': 1}", b'{"a": 1}{"a": 2}', b'"\xff"', b"\x00\x00", b"nul", b"01", b'"a\nb"']
)
def test_what_is_not_json_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        loads(data)


def test_values_far_deeper_than_the_stack_are_written() -> None:
    assert dumps(nested(50_000)) == b"[" * 50_001 + b"]" * 50_001


def test_a_value_that_contains_itself_is_refused() -> None:
    ring: list[Any] = []
    ring.append({"again": ring})
    with pytest.raises(ValueError, match="contains itself"):
        dumps(ring)


def test_a_value_met_twice_is_no_ring() -> None:
    part: Any = [2**70]
    assert loads(dumps([part, {"a": part}, part])) == [part, {"a": part}, part]


@pytest.mark.parametrize("beside", [1, 2**70])
def test_what_json_does_not_know_is_refused_by_name(beside: int) -> None:
    with pytest.raises(TypeError):
        dumps({1: beside})  # type: ignore[dict-item]  # a caller that is not type-checked
    with pytest.raises(TypeError):
        dumps([b"bytes", beside])  # type: ignore[list-item]  # as above
