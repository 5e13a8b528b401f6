"""JSON that stands in a text, as tracers keep it."""

from __future__ import annotations

import ast
from typing import Final

from ..canon import loads
from ..jsonable import jsonable
from ..wire.values import Json, JsonObject

_TWICE: Final = 3
"""How many times a value may have been turned into text."""


def unpacked(value: Json, *, printed: bool = False) -> Json:
    """The value that a text spells when it is an object or a list, also when it was spelled twice; else the text.

    With `printed`, also an object as Python prints it.
    """
    for _ in range(_TWICE):
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
            return value
        try:
            inner = loads(value)
        except ValueError:
            return _read_back(value) if printed else value
        if isinstance(inner, str) and inner.lstrip()[:1] not in ("{", "[", '"'):
            return value
        value = inner
    return value


def _read_back(text: str) -> Json:
    try:
        return jsonable(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


def unpacked_object(value: Json) -> JsonObject:
    """The object that `value` is or spells; an empty one for anything else."""
    found = unpacked(value)
    return found if isinstance(found, dict) else {}


def unpacked_list(value: Json) -> list[Json]:
    """The list that `value` is or spells; an empty one for anything else."""
    found = unpacked(value)
    return found if isinstance(found, list) else []


def nested(attributes: JsonObject, prefix: str) -> Json:
    """Flat attributes below a prefix (`prefix.0.role`) as objects and lists; numbers become places in a list.

    None when there are none. A list that misses numbers is closed up.
    """
    dotted = prefix + "."
    root: JsonObject = {}
    for key, value in attributes.items():
        if not key.startswith(dotted):
            continue
        at = root
        *path, last = key[len(dotted) :].split(".")
        for part in path:
            below = at.setdefault(part, {})
            if not isinstance(below, dict):
                below = at[part] = {}
            at = below
        if isinstance(at.get(last), dict):
            continue
        at[last] = value
    return _with_lists(root) if root else attributes.get(prefix)


def _with_lists(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    inside = {key: _with_lists(item) for key, item in value.items()}
    if inside and all(key.isdecimal() for key in inside):
        return [inside[key] for key in sorted(inside, key=int)]
    return inside
