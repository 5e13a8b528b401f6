from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runtape.decision.canonical import canonical, same_value
from runtape.decision.condition_text import condition
from runtape.errors import BadInput
from runtape.wire.values import Json, ToolCall

ARGUMENTS: Json = {
    "amount": 2000,
    "share": 0.5,
    "currency": "EUR",
    "tags": ["vip", 7, None],
    "order": {"id": 7, "items": [{"price": 9.0, "name": 'a "b"'}]},
    "urgent": True,
    "note": None,
    "empty": "",
    "user id": "u-1",
    "in": 3,
    "сумма": 12,
    "a-b": "x.y",
}


@pytest.mark.parametrize(
    "text",
    [
        "amount > 1000",
        "amount >= 2000 and amount <= 2e3 and amount == 2000.0",
        "1000 < amount",
        "share < 1 and share != 1",
        'currency == \'EUR\' and currency in ["EUR", "USD"] and currency not in ["GBP"]',
        "currency < 'F' and currency >= 'EUR'",
        "currency contains 'U' and 'U' in currency",
        "tags contains 7.0 and tags contains null and not tags contains '7'",
        "order contains 'items' and order.items[0].price == 9",
        "order.items[-1].name == 'a \"b\"' and order.items[0].name contains '\"'",
        "/order/items/0/price > 8 and $.order.id == 7 and order['id'] == 7",
        "$[\"user id\"] matches \"^u-\\d$\" and $['user id'] == 'u-1'",
        "amount matches '^2'",
        "$.in == 3 and сумма > 11 and a-b == 'x.y'",
        "urgent and urgent == true and not note and note == null and not empty",
        "missing == null and not missing and missing != 1 and not missing > 1 and not (missing contains 'a')",
        "not (amount > 1000 and currency == 'USD') or false",
        "amount < 1 or amount > 1 and urgent",
        "$ contains 'amount'",
        "tags == ['vip', 7.0, null] and order == order",
    ],
)
def test_a_condition_that_holds(text: str) -> None:
    assert condition(text).holds(ARGUMENTS)
    assert not condition(f"not ({text})").holds(ARGUMENTS)


@pytest.mark.parametrize(
    "text",
    [
        "amount > '1000'", "currency > 1000", "urgent == 1", "urgent > 0", "amount == true", "amount == '2000'",
        "tags > 1", "note > 0", "order.items[1].price == 9", "tags.vip", "currency.length", "amount[0]", "tags contains vip",
        "1 in amount", "missing in ['a', null]", "note matches 'x'",
    ],
)  # fmt: skip
def test_values_of_other_types_and_places_without_a_value_fulfil_nothing(text: str) -> None:
    assert not condition(text).holds(ARGUMENTS)


@pytest.mark.parametrize("arguments", [None, 3, "amount", [], ["amount"], {}])
def test_arguments_of_any_kind_are_asked(arguments: Json) -> None:
    assert not condition("amount > 1000").holds(arguments)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty condition"),
        ("  \n", "empty condition"),
        ("amount = 5", "at character 8: Write == to compare"),
        ("a && b", "at character 3: Write and"),
        ("a || b", "Write or"),
        ("!a", "Write not"),
        ("a == True", "at character 6: Write true"),
        ("a AND b", "Write and"),
        ("1 < a < 5", "at character 7: comparisons are not chained"),
        ("a > ", "a value is missing before the end"),
        ("(a > 1", "at character 1: there is no '\\)'"),
        ("a > 1)", "at character 6: '\\)' is one word too many"),
        ("a in [1, 2", "there is no ']'"),
        ("a in [b]", "a list holds"),
        ("a == 'x", "at character 6: this text has no closing quote"),
        ("a not b", "only read in `not in`"),
        ("a matches b", "matches needs a regular expression in quotes"),
        ("a matches '('", "at character 11: The pattern"),
        ("a > 1e999", "too large"),
        ("a + b > 3", "cannot be read"),
        ("f(a)", "one word too many"),
        ("__import__('os').system('x')", "one word too many"),
        ("a; b", "cannot be read"),
        ("5 > 3", "names no argument"),
        ("not " * 40 + "a", "more than 30"),
        ("(" * 40 + "a" + ")" * 40, "more than 30"),
        ("a > " + "1" * 3000, "at most 2000"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_place(text: str, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        condition(text)


def test_a_hostile_pattern_ends_in_time() -> None:
    with pytest.raises(BadInput, match=r"took more than 0\.25 seconds"):
        condition("a matches '(x+x+)+y'").holds({"a": "x" * 40_000})


_WORDS = st.sampled_from(
    ["a", "amount", "and", "or", "not", "in", "contains", "matches", "==", "<", "(", ")", "[", "]", ",", "'x'", "1", "-2.5", "true",
     "$", "/a", ".", "__class__", "lambda", "exec('boom')", "{", "}", "\\", "`", "é", "\ud800", "\u202e", "null"]
)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(_WORDS, max_size=25).map(" ".join) | st.text(max_size=60), JSON)
@example("a.__class__.__mro__[1].__subclasses__", {"a": 1})
def test_any_text_is_refused_or_says_yes_or_no(text: str, arguments: Json) -> None:
    try:
        asked = condition(text)
    except BadInput:
        return
    assert isinstance(asked.holds(arguments), bool)
    assert all(path.text for path in asked.paths)


@given(st.dictionaries(st.text(max_size=8), JSON, min_size=1, max_size=4), st.data())
def test_every_key_can_be_reached_by_its_written_path(arguments: dict[str, Json], data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(sorted(arguments)))
    quoted = key.replace("\\", "\\\\").replace("'", "\\'")
    asked = condition(f"$['{quoted}'] == {json.dumps(str(arguments[key]))} or true == $['{quoted}'] or $")
    assert asked.paths[0].find(arguments) == arguments[key]
    assert condition(f"{asked.paths[0].text} == null").paths == asked.paths[:1]


@given(JSON, st.randoms())
def test_arguments_are_equal_whatever_their_spelling(value: Json, random) -> None:
    def respelled(value: Json) -> str:
        match value:
            case dict():
                keys = list(value)
                random.shuffle(keys)
                return (
                    "{ "
                    + " ,".join(
                        f"{json.dumps(key, ensure_ascii=random.random() < 0.5)}: {respelled(value[key])}"
                        for key in keys
                    )
                    + "}"
                )
            case list():
                return "[" + ", ".join(map(respelled, value)) + " ]"
            case int() if (
                not isinstance(value, bool) and random.random() < 0.5 and float(value) == value and abs(value) < 2**53
            ):
                return f"{value}.0"
            case _:
                return json.dumps(value, ensure_ascii=random.random() < 0.5)

    text = respelled({"a": value})
    assert canonical(ToolCall("f", json.dumps({"a": value}), None)) == canonical(ToolCall("f", text, None))
    assert same_value({"a": value}, json.loads(text))


@given(JSON, JSON)
def test_equal_values_are_equal_as_python_sees_json(one: Json, other: Json) -> None:
    def strict(value: Json) -> object:
        match value:
            case dict():
                return ("object", sorted((key, repr(strict(item))) for key, item in value.items()))
            case list():
                return ("list", [strict(item) for item in value])
            case bool() | None | str():
                return (type(value).__name__, value)
            case float() if value.is_integer():
                return ("number", int(value))
            case _:
                return ("number", value)

    assert same_value(one, other) == (repr(strict(one)) == repr(strict(other)))
