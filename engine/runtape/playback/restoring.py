"""Recorded tool results as the types that the tool says it returns."""

from __future__ import annotations

import base64
import binascii
import typing
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Generator, Iterable, Iterator
from functools import cache
from typing import Any

from ..canon import dumps
from ..jsonable import jsonable
from ..wire.values import Json

_STREAMS = (Iterator, Iterable, Generator, AsyncIterator, AsyncIterable, AsyncGenerator)

_FLOATS = {"<nan>": float("nan"), "<inf>": float("inf"), "<-inf>": float("-inf")}


@cache
def returned_type(tool: Callable[..., Any], *, items: bool) -> Any:
    """What the annotations of `tool` say that it returns; of a generator with `items`, what it yields. Any if nothing.

    Types come from the program's own code, never from the trace.
    """
    try:
        hint = typing.get_type_hints(tool, include_extras=True).get("return", Any)
    except Exception:  # noqa: BLE001 -- annotations may hold anything; without them values stay JSON
        return Any
    if not items:
        return hint
    return (typing.get_args(hint) or (Any,))[0] if typing.get_origin(hint) in _STREAMS else Any


def restored(value: Json, type_: Any) -> Any:
    """`value` as `type_` where it is one that JSON can spell, else as recorded, with bytes and NaN given back."""
    from pydantic import TypeAdapter, ValidationError  # not needed to record

    plain = _plain(value)
    if type_ is Any:
        return plain
    try:
        adapter = TypeAdapter(type_)
    except Exception:  # noqa: BLE001 -- a class that pydantic does not know
        return plain
    # In JSON's strict mode a text is a date where a date is meant, and never a number.
    reads: tuple[Callable[[], Any], ...] = (
        lambda: adapter.validate_json(dumps(value), strict=True),
        lambda: adapter.validate_python(plain),
    )
    for read in reads:
        try:
            made = read()
        except (ValidationError, RecursionError):
            continue
        # A value that would be recorded otherwise is not the one that was.
        if dumps(jsonable(made)) == dumps(value):
            return made
    return plain


def _plain(value: Json) -> Any:
    match value:
        case {"$bytes": str(text), **rest} if not rest:
            try:
                return base64.b64decode(text, validate=True)
            except binascii.Error:
                return value
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list():
            return [_plain(item) for item in value]
        case str():
            return _FLOATS.get(value, value)
        case _:
            return value
