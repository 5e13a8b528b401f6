"""One event as one line of bytes, of a length that readers can hold."""

from __future__ import annotations

from typing import Final

from .. import canon
from ..jsonable import KEPT_OF_CUT, cut, jsonable
from ..wire.values import Json
from .events import Event

MAX_TEXT: Final = 10_000_000
"""A longer text is cut, its length and SHA-256 kept."""
MAX_LINE: Final = 64_000_000
"""In a longer line all long texts are cut."""


def line_of(event: Event) -> bytes:
    """The line, newline included; strict JSON whatever the payload holds."""
    line = _dumped(event)
    if len(line) > MAX_TEXT:
        line = canon.dumps(_fields(event, _cut_texts(event.payload, MAX_TEXT)))
    if len(line) > MAX_LINE:
        line = canon.dumps(_fields(event, _cut_texts(event.payload, KEPT_OF_CUT)))
    if len(line) > MAX_LINE:
        line = canon.dumps(_fields(event, {"dropped": f"the event is {len(line)} bytes even with its texts cut"}))
    return line + b"\n"


def _dumped(event: Event) -> bytes:
    try:
        return canon.dumps(_fields(event, event.payload))
    except (TypeError, ValueError, RecursionError):
        return canon.dumps(_fields(event, jsonable(event.payload)))


def _fields(event: Event, payload: Json) -> Json:
    return {
        "id": event.id,
        "ts": event.ts,
        "type": event.type,
        "parent": event.parent,
        "payload": payload,
        "meta": event.meta,
    }


def _cut_texts(value: Json, limit: int) -> Json:
    if isinstance(value, str):
        return cut(value, KEPT_OF_CUT) if len(value) > limit else value
    if isinstance(value, list):
        return [_cut_texts(item, limit) for item in value]
    if isinstance(value, dict):
        return {key: _cut_texts(item, limit) for key, item in value.items()}
    return value
