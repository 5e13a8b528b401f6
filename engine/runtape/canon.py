"""JSON as bytes and back: strict when written, tolerant when read, exact both ways."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from json.encoder import encode_basestring_ascii
from typing import TypeAlias

import orjson

# Spelled out here because the layers put this module below `wire`.
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

_BOM = b"\xef\xbb\xbf"

_DIGITS = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x20 for byte in range(256))
_ROUNDED = b"0" * 19
"""orjson reads an integer outside 64 bits as a float; none has fewer digits than this."""


def dumps(value: Json) -> bytes:
    """`value` as one line of strict JSON in UTF-8, without a line end.

    Integers of any size are exact; NaN and infinities become null. Lone surrogates are written as escapes; two side by
    side that form a character read back as that character, which JSON cannot tell from them.

    Raises:
        TypeError: a value or a key that JSON does not know.
        ValueError: a value that contains itself, or an integer of more digits than Python prints (4,300).
    """
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:  # what it refuses: big integers, lone surrogates, more than 254 levels
        return _spelled(value, ordered=False)


def loads(data: bytes | str) -> Json:
    """The value of one JSON text.

    Integers of any size are exact (as text from 4,301 digits on). A byte-order mark is skipped; NaN, infinities and
    numbers beyond the range of a float are None; lone surrogates are kept; of equal keys the last one counts.

    Raises:
        ValueError: the text is not JSON, not UTF-8, or nested too deeply to be read.
    """
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    raw = raw.removeprefix(_BOM)
    if _ROUNDED not in raw.translate(_DIGITS):
        try:
            value: Json = orjson.loads(raw)
        except orjson.JSONDecodeError:  # the standard library takes more, and tells what is wrong with the rest
            pass
        else:
            return value
    try:
        exact: Json = json.loads(
            raw.decode("utf-8", "surrogatepass"),
            parse_int=_integer,
            parse_float=_finite,
            parse_constant=_nothing,
        )
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply to be read") from error
    return exact


def digest(value: Json) -> str:
    """SHA-256 in hex of `value`'s JSON with sorted keys: equal for objects that differ in key order only.

    Raises:
        TypeError: as `dumps`.
        ValueError: as `dumps`.
    """
    try:
        data = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        data = _spelled(value, ordered=True)
    return hashlib.sha256(data).hexdigest()


def _integer(digits: str) -> Json:
    try:
        return int(digits)
    except ValueError:  # longer than the interpreter converts
        return digits


def _finite(number: str) -> Json:
    value = float(number)
    return value if math.isfinite(value) else None


def _nothing(_: str) -> Json:
    return None


class _Open:
    """An object or list of which a part is written."""

    def __init__(self, value: dict[str, Json] | list[Json], *, ordered: bool) -> None:
        self.value = value
        self.brackets = "{}" if isinstance(value, dict) else "[]"
        self.members = _members(value, ordered=ordered)


def _members(value: dict[str, Json] | list[Json], *, ordered: bool) -> Iterator[tuple[str, Json]]:
    """What stands before each member, and the member."""
    if isinstance(value, dict):
        keys = sorted(value) if ordered else value
        return ((f"{',' if at else ''}{_key(key)}:", value[key]) for at, key in enumerate(keys))
    return (("," if at else "", item) for at, item in enumerate(value))


def _spelled(value: Json, *, ordered: bool) -> bytes:
    # Written with a stack of its own, so that every value `loads` returns can be written, at any depth.
    out: list[str] = []
    stack: list[_Open] = []
    inside: set[int] = set()
    item = value
    while True:
        if isinstance(item, (dict, list)):
            if id(item) in inside:
                raise ValueError("a value that contains itself cannot be written as JSON")
            inside.add(id(item))
            stack.append(_Open(item, ordered=ordered))
            out.append(stack[-1].brackets[0])
        else:
            out.append(_scalar(item))
        following = None
        while stack and following is None:
            following = next(stack[-1].members, None)
            if following is None:
                done = stack.pop()
                inside.remove(id(done.value))
                out.append(done.brackets[1])
        if following is None:
            return "".join(out).encode("ascii")
        before, item = following
        out.append(before)


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key of a JSON object is text, not {type(key).__name__}")
    return encode_basestring_ascii(key)


def _scalar(item: object) -> str:
    if isinstance(item, str):
        return encode_basestring_ascii(item)
    if item is None:
        return "null"
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int):
        return int.__repr__(item)
    if isinstance(item, float):
        return float.__repr__(item) if math.isfinite(item) else "null"
    raise TypeError(f"JSON has no {type(item).__name__}")
