"""Tool calls as values that can be compared."""

from __future__ import annotations

import json
from functools import lru_cache

from .. import canon
from ..wire.values import Json, ToolCall


def canonical(call: ToolCall) -> str:
    """The call as one short text, equal for calls that mean the same.

    The order of keys, white space and the form of numbers (1, 1.0, 1e0) do not count; blank arguments are `{}`;
    arguments that are not JSON are compared as they stand.
    """
    return _canonical(call.name, call.text.strip() or "{}")


def is_complete(call: ToolCall) -> bool:
    """True when the arguments came whole: they are JSON."""
    try:
        _value(call.text)
    except (ValueError, RecursionError):
        return False
    return True


def is_readable(call: ToolCall) -> bool:
    """True when the arguments are JSON, or blank, which stands for none."""
    return not call.text.strip() or is_complete(call)


def canonical_value(value: Json) -> str:
    """The JSON of a value, equal for values that mean the same, whatever the order of keys and the form of numbers."""
    text = canon.dumps(value).decode()
    try:
        return canon.dumps(_sorted(_value(text))).decode()
    except (ValueError, RecursionError):
        return text


def same_value(one: Json, other: Json) -> bool:
    """Whether two values are equal as JSON: 1 and 1.0 are, 1 and true are not."""
    return canonical_value(one) == canonical_value(other)


def _sorted(value: Json) -> Json:
    match value:
        case dict():
            return {key: _sorted(value[key]) for key in sorted(value)}
        case list():
            return [_sorted(item) for item in value]
        case _:
            return value


# Every reply of a search is compared with the same earlier calls.
@lru_cache(maxsize=4096)
def _canonical(name: str, text: str) -> str:
    try:
        return f"{name} {canon.digest(_value(text))}"
    except (ValueError, RecursionError):
        return f"{name} {text}"


def _value(text: str) -> Json:
    # Numbers are made equal while they are read: whole floats become integers.
    value: Json = json.loads(text, parse_float=_number)
    return value


def _number(digits: str) -> int | float:
    number = float(digits)
    return int(number) if number.is_integer() else number
