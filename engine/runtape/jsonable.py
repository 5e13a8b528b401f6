"""Any Python value as JSON, safely.

What a host program hands to a recorder can be anything: huge, cyclic, lazy, or with methods that raise. No method that
the value's class defines is called (fields are read from where the object stores them), and nodes, depth and text
are counted, so the time taken is bounded and the program notices nothing. The one exception is the text of an
exception, which is asked for with `str`.
"""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import enum
import fractions
import hashlib
import math
import pathlib
import types
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, Final, TypeAlias, TypeVar, cast

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""The same alias as in `wire.values`, which a leaf does not import."""

MAX_NODES: Final = 100_000
"""Values in one tree; about 0.1 s of work."""
MAX_DEPTH: Final = 100
"""Far below the nesting that JSON readers refuse (orjson: 254)."""
MAX_TEXT: Final = 10_000_000
"""Characters of text in one tree."""
KEPT_OF_CUT: Final = 100_000
"""Characters kept of a text that does not fit."""
MAX_INT_BITS: Final = 4_096
"""Longer integers are shown in hexadecimal: Python refuses to print very long ones in decimal."""
MAX_ERROR_TEXT: Final = 2_000

_SMALL: Final = 1 << 53
_HASH_STEP: Final = 1 << 20
_LONG_KEY: Final = 1_000


def jsonable(value: object) -> Json:
    """`value` as JSON that shares nothing with it: a snapshot.

    Bytes become `{"$bytes": base64}`; NaN and infinities `"<nan>"`, `"<inf>"`, `"<-inf>"`; dataclasses, pydantic models
    and attrs classes objects of their fields; sets sorted lists; enums their values; dates ISO text; `Decimal`, `UUID`
    and paths text; exceptions `{"error": type, "message": text}`. Anything else is its type name in angle brackets.
    What is too large or too deep is cut, with a text in angle brackets that says so. Never raises an `Exception`.
    """
    return _Walk().value(value, 0)


def cut(text: str, keep: int) -> str:
    """The first `keep` characters of `text`, with its whole length and SHA-256 noted behind them."""
    seen = hashlib.sha256()
    for start in range(0, len(text), _HASH_STEP):  # in steps: a second copy of the text would double the memory
        seen.update(text[start : start + _HASH_STEP].encode("utf-8", "surrogatepass"))
    return f"{text[:keep]}<cut: {len(text)} characters, sha256 {seen.hexdigest()}>"


class _Walk:
    """One conversion and what is left of its limits."""

    def __init__(self) -> None:
        self.nodes = MAX_NODES
        self.text = MAX_TEXT
        self.open: set[int] = set()
        """Identities of the containers above the current value."""

    def value(self, value: object, depth: int) -> Json:
        self.nodes -= 1
        if value is None or value is True or value is False:
            return value
        if type(value) is str and len(value) <= self.text:  # most values are; the long way costs three calls
            self.text -= len(value)
            return value
        if type(value) is int and -_SMALL < value < _SMALL:
            return value
        kind = type(value)
        try:
            scalar = None if id(kind) in _CONTAINERS else _first_known(kind, _SCALARS)
            return self.container(value, depth) if scalar is None else scalar(self, value)
        except Exception as error:  # noqa: BLE001 -- one odd value must not cost the tree around it
            return f"<{_type_name(value)}: could not be recorded, {type(error).__name__}>"

    def container(self, value: object, depth: int) -> Json:
        if id(value) in self.open:
            return "<cycle>"
        if depth >= MAX_DEPTH:
            return f"<cut: {_type_name(value)} nested deeper than {MAX_DEPTH}>"
        self.open.add(id(value))
        try:
            return self.inside(value, depth)
        finally:
            self.open.discard(id(value))

    def inside(self, value: object, depth: int) -> Json:
        kind = type(value)
        builtin: Any = kind if kind is dict or kind is list else _first_known(kind, _CONTAINERS)
        if builtin is None:
            return self.fields(value, depth)
        # Read with the methods of the built-in class: a subclass's own may raise or be slow.
        if builtin is _MAPPING:
            return self.members(builtin.items(value), builtin.__len__(value), depth)
        items = self.elements(builtin.__iter__(value), builtin.__len__(value), depth)
        # One order for one set: the order in memory changes from process to process.
        return sorted(items, key=repr) if builtin in _UNORDERED else items

    def fields(self, value: object, depth: int) -> Json:
        fields = _fields(value)
        if fields is None:
            return f"<{_type_name(value)}>"
        if "root" in fields and _is_root_model(type(value)):
            return self.value(fields["root"], depth + 1)
        return self.members(fields.items(), len(fields), depth)

    def elements(self, items: Iterable[object], size: int, depth: int) -> list[Json]:
        out: list[Json] = []
        # The slice is taken in one step, before any item is looked at: another thread may be changing the container.
        for item in list(islice(items, max(self.nodes, 0))):
            if self.nodes <= 0:
                break
            out.append(self.value(item, depth + 1))
        if len(out) < size:
            out.append(f"<cut: {size - len(out)} more elements>")
        return out

    def members(self, items: Iterable[tuple[object, object]], size: int, depth: int) -> dict[str, Json]:
        out: dict[str, Json] = {}
        for key, item in list(islice(items, max(self.nodes, 0))):
            if self.nodes <= 0:
                break
            name = key if type(key) is str and len(key) <= _LONG_KEY else self.key(key, depth)
            if name in out:  # 1 and "1" are two keys in Python
                name = f"{name} <{_type_name(key)}>"
            out[name] = self.value(item, depth + 1)
        if len(out) < size:
            out["<cut>"] = f"{size - len(out)} more members"
        return out

    def key(self, key: object, depth: int) -> str:
        if key is None:
            return "null"
        if isinstance(key, bool):
            return "true" if key else "false"
        shown = self.value(key, depth + 1)
        return shown if isinstance(shown, str) else repr(shown)

    def string(self, value: Any) -> str:
        text = str.__str__(value)
        if len(text) > self.text:
            text = cut(text, min(KEPT_OF_CUT, max(self.text, 0)))
        self.text -= len(text)
        return text

    def bytes(self, value: Any) -> Json:
        view = memoryview(value)
        size = view.nbytes
        keep = size if size * 4 // 3 <= self.text else min(KEPT_OF_CUT, max(self.text, 0))
        flat = view if view.contiguous and view.ndim == 1 and view.itemsize == 1 else memoryview(view.tobytes())
        encoded = base64.b64encode(flat[:keep]).decode("ascii")
        self.text -= len(encoded)
        if keep == size:
            return {"$bytes": encoded}
        return {"$bytes": encoded, "cut": size, "sha256": hashlib.sha256(flat).hexdigest()}

    def integer(self, value: Any) -> Json:
        number = int.__index__(value)
        return number if number.bit_length() <= MAX_INT_BITS else self.string(f"<int {number:#x}>")

    def floating(self, value: Any) -> Json:
        number = float.__float__(value)
        if math.isfinite(number):
            return number
        return "<nan>" if math.isnan(number) else "<inf>" if number > 0 else "<-inf>"

    def member_of_enum(self, value: Any) -> Json:
        return self.value(object.__getattribute__(value, "_value_"), 0)

    def error(self, value: Any) -> Json:
        try:
            message = str(value)[:MAX_ERROR_TEXT]
        except Exception as failure:  # noqa: BLE001 -- the exception's own text method is broken
            message = f"<no text: {type(failure).__name__}>"
        return {"error": _type_name(value), "message": self.string(message)}


def _text(convert: Callable[[Any], str]) -> _Scalar:
    return lambda walk, value: walk.string(convert(value))


_Scalar: TypeAlias = Callable[[_Walk, Any], Json]

_CONVERTERS: Final[tuple[tuple[type, _Scalar], ...]] = (
    (str, _Walk.string),
    (int, _Walk.integer),
    (float, _Walk.floating),
    (bytes, _Walk.bytes),
    (bytearray, _Walk.bytes),
    (memoryview, _Walk.bytes),
    (enum.Enum, _Walk.member_of_enum),
    (dt.datetime, _text(dt.datetime.isoformat)),
    (dt.date, _text(dt.date.isoformat)),
    (dt.time, _text(dt.time.isoformat)),
    (dt.timedelta, lambda _walk, value: dt.timedelta.total_seconds(value)),
    (decimal.Decimal, _text(decimal.Decimal.__str__)),
    (fractions.Fraction, _text(fractions.Fraction.__str__)),
    (uuid.UUID, _text(uuid.UUID.__str__)),
    (pathlib.PurePath, _text(pathlib.PurePath.__str__)),
    (complex, _text(complex.__repr__)),
    (range, _text(range.__repr__)),
    (BaseException, _Walk.error),
)
# By identity: a dict keyed by the classes would call a `__hash__` that a host's metaclass defines.
_SCALARS: Final = {id(kind): convert for kind, convert in _CONVERTERS}
_MAPPING: Final[Any] = dict
_CONTAINERS: Final[dict[int, Any]] = {id(kind): kind for kind in (_MAPPING, list, tuple, set, frozenset, deque)}
_UNORDERED: Final = (set, frozenset)

_Known = TypeVar("_Known")


def _first_known(kind: type, known: dict[int, _Known]) -> _Known | None:
    """What is known of a class, or of the first of its bases of which anything is."""
    found = known.get(id(kind))
    return found if found is not None else next((known[id(base)] for base in _bases(kind) if id(base) in known), None)


def _bases(kind: type) -> tuple[type, ...]:
    return cast("tuple[type, ...]", type.__getattribute__(kind, "__mro__"))


def _own(kind: type) -> Mapping[str, Any]:
    """What a class itself defines; `vars` would ask its metaclass."""
    return cast("Mapping[str, Any]", type.__dict__["__dict__"].__get__(kind))


def _fields(value: object) -> dict[str, object] | None:
    """Every field of a dataclass, pydantic model or attrs class, read from storage; None for anything else."""
    spaces = [_own(base) for base in _bases(type(value))]
    declared = next((_names(space[mark]) for mark in _DECLARED for space in spaces if mark in space), None)
    if declared is None:
        return None
    found: dict[str, object] = {}
    for space in spaces:
        for name, slot in space.items():
            if type(slot) is types.MemberDescriptorType and name in declared:
                with suppress(AttributeError):  # a slot that was never set
                    found[name] = slot.__get__(value)
    stored = _stored(value, "__dict__")
    found.update((name, stored[name]) for name in declared if name in stored)
    found.update(_stored(value, "__pydantic_extra__"))
    return found


_DECLARED: Final = ("__dataclass_fields__", "__pydantic_fields__", "__fields__", "__attrs_attrs__")


def _names(declaration: Any) -> list[str]:
    if type(declaration) is dict:
        return list(cast("dict[str, object]", declaration))
    return [field.name for field in declaration]


def _stored(value: object, name: str) -> dict[str, object]:
    try:
        found = object.__getattribute__(value, name)
    except AttributeError:
        return {}
    return cast("dict[str, object]", found) if type(found) is dict else {}


def _is_root_model(kind: type) -> bool:
    return any(_own(base).get("__pydantic_root_model__") is True for base in _bases(kind))


def _type_name(value: object) -> str:
    return str.__str__(type.__dict__["__name__"].__get__(type(value)))
