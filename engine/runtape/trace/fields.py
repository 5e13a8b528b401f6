"""An event from the JSON of its line."""

from __future__ import annotations

import json
import math
import re
from typing import Final

from ..wire.values import Json
from .events import Event

LARGEST: Final = 2**53
"""Event numbers above it are not exact in every JSON reader."""


class Misfit(ValueError):
    """Raised when a line is JSON but no event."""


def event_of(value: Json) -> Event:
    """The event that `value` spells.

    Raises:
        Misfit: it is no object, or a field is missing or of the wrong type.
    """
    if not isinstance(value, dict):
        raise Misfit(f"not an object but {_named(value)}")
    number = _number(value.get("id"), "id")
    if number is None:
        raise Misfit("no `id`")
    kind = value.get("type")
    if not isinstance(kind, str):
        raise Misfit(f"`type` is {_named(kind)}, not text")
    ts = value.get("ts")
    if isinstance(ts, bool) or not isinstance(ts, (int, float, type(None))):
        raise Misfit(f"`ts` is {_named(ts)}, not seconds since the epoch")
    payload, meta = value.get("payload"), value.get("meta")
    if not isinstance(payload, (dict, type(None))):
        raise Misfit(f"`payload` is {_named(payload)}, not an object")
    if not isinstance(meta, (dict, type(None))):
        raise Misfit(f"`meta` is {_named(meta)}, not an object")
    seconds = float(ts) if ts is not None and abs(ts) < LARGEST else 0.0
    return Event(number, seconds, kind, payload or {}, meta or {}, _number(value.get("parent"), "parent"))


def has_lost_numbers(line: bytes) -> bool:
    """True when the JSON on the line holds NaN, an infinity or a number too large for a float."""
    if not _SUSPECT.search(line):
        return False
    lost: list[str] = []

    def number(text: str) -> float:
        if not math.isfinite(float(text)):
            lost.append(text)
        return 0.0

    try:
        json.loads(line, parse_constant=lost.append, parse_float=number, parse_int=len)
    except (ValueError, RecursionError):
        return False
    return bool(lost)


_SUSPECT: Final = re.compile(rb"NaN|Infinity|\d[eE]\+?\d{3}")


def _number(value: Json, field: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise Misfit(f"`{field}` is {_named(value)}, not a whole number")
    if not 0 <= value <= LARGEST:
        raise Misfit(f"`{field}` is not between 0 and {LARGEST}")
    return value


def _named(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return "text"
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, dict) else "a number"
