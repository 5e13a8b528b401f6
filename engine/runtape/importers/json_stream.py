"""The records of a JSON file of any size, one after another.

A file may be one list, one object around a list, one value per line, or several values one after another, pretty
printed or not. Values are parsed one by one with a tolerant parser; one that does not parse is told of in its place.
Of an object that holds long lists, the lists named in `opened` are given out element by element, before the object
itself, which then has them empty.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from ..canon import loads
from ..wire.values import Json

CHUNK: Final = 1 << 18
LONGEST: Final = 1 << 28
"""Bytes of one record; a larger one is refused, so that memory stays bounded."""

_BOM: Final = b"\xef\xbb\xbf"
_OUTSIDE: Final = re.compile(rb'["{}\[\]]')
_INSIDE: Final = re.compile(rb'["\\]')
_KEY: Final = re.compile(rb'"((?:[^"\\]|\\.){0,80})"\s*:\s*$')
_FILLER: Final = b" \t\r\n,"


@dataclass(frozen=True, slots=True)
class Record:
    """One value of a file."""

    place: str
    """Where it stands: `line 12`, `record 3`, `observations 4`."""
    value: Json
    """None when it could not be read."""
    within: str = ""
    """The path of the list that it is an element of, such as `log.entries`; empty for a value of its own."""
    problem: str | None = None
    """What is wrong with it; a value that was cut off may stand beside it as far as it went."""
    around: Json = None
    """The object around the list that it is an element of, as far as it stands before the list."""


def records(stream: BinaryIO, opened: Collection[str] = ()) -> Iterator[Record]:
    """Every record of a stream, in order.

    Args:
        stream: Bytes in UTF-8 from the beginning of the file.
        opened: Paths of lists inside of objects whose elements are records: `observations`, `log.entries`.
    """
    head = stream.read(CHUNK).removeprefix(_BOM)
    if _is_lines(head):
        yield from _lines(head, stream, frozenset(opened))
    else:
        yield from _Splitter(frozenset(opened)).split(head, stream)


def _is_lines(head: bytes) -> bool:
    """True when the file has one value per line: its first line is one, or was torn and the next two are."""
    lines = [line for line in head.split(b"\n")[:20] if line.strip()]
    if len(lines) < 2:
        return False
    if _parses(lines[0]):
        return True
    return len(lines) > 3 and lines[0].lstrip()[:2] == b'{"' and all(map(_parses, lines[1:3]))


def _parses(line: bytes) -> bool:
    try:
        return isinstance(loads(line), (dict, list))
    except ValueError:
        return False


def _lines(head: bytes, stream: BinaryIO, opened: frozenset[str]) -> Iterator[Record]:
    number = 0
    rest = head
    pieces: list[bytes] = []
    size = 0
    while True:
        *whole, rest = rest.split(b"\n")
        for line in whole:
            number += 1
            yield from _line(b"".join((*pieces, line)), number, opened)
            pieces, size = [], 0
        pieces.append(rest)
        size += len(rest)
        if size > LONGEST:
            yield Record(f"line {number + 1}", None, problem=f"it is longer than {LONGEST >> 20} MB")
            return
        rest = stream.read(CHUNK)
        if not rest:
            break
    if last := b"".join(pieces).strip():
        yield from _line(last, number + 1, opened)


def _line(line: bytes, number: int, opened: frozenset[str]) -> Iterator[Record]:
    text = line.strip()
    if not text:
        return
    place = f"line {number}"
    try:
        value = loads(text)
    except ValueError as error:
        repaired = closed(text)
        yield Record(place, repaired, problem=f"it is not JSON: {error}")
        return
    yield from exploded(place, value, opened)


def exploded(place: str, value: Json, opened: frozenset[str]) -> Iterator[Record]:
    """A parsed value as the records that reading it piece by piece would give."""
    if isinstance(value, list):
        for index, item in enumerate(value, 1):
            yield from _element(f"{place}, element {index}", item, "", opened)
    else:
        yield from _element(place, value, "", opened)


def _element(place: str, value: Json, path: str, opened: frozenset[str], around: Json = None) -> Iterator[Record]:
    if isinstance(value, dict) and opened:
        lists: list[tuple[str, list[Json]]] = []
        value = _emptied(value, path, opened, lists)
        for within, items in lists:
            for index, item in enumerate(items, 1):
                yield from _element(f"{place}, {within.rpartition('.')[2]} {index}", item, within, opened, value)
    yield Record(place, value, path, around=around)


def _emptied(
    value: dict[str, Json], path: str, opened: frozenset[str], lists: list[tuple[str, list[Json]]]
) -> dict[str, Json]:
    """`value` with its opened lists empty; they are put into `lists`."""
    kept: dict[str, Json] = {}
    for key, item in value.items():
        below = f"{path}.{key}" if path else key
        if isinstance(item, list) and below in opened:
            lists.append((below, item))
            kept[key] = []
        elif isinstance(item, dict) and _leads(below, opened):
            kept[key] = _emptied(item, below, opened, lists)
        else:
            kept[key] = item
    return kept


def _leads(path: str, opened: frozenset[str]) -> bool:
    return any(wanted.startswith(path + ".") for wanted in opened)


@dataclass(slots=True)
class _Level:
    """One bracket that is open and looked into."""

    kind: str
    """`top`, `list` (its elements are records), `object` (a record), `inner` (an object of a record), `value`."""
    path: str
    count: int = 0
    """Elements begun so far."""
    place: str = ""
    around: Json = None


class _Splitter:
    """Cuts a stream of JSON into its records by brackets and quotes alone."""

    def __init__(self, opened: frozenset[str]) -> None:
        self._opened = opened
        self._stack = [_Level("top", "")]
        self._buffers: list[bytearray] = []
        self._stray = bytearray()
        self._deep = 0
        """Open brackets inside the innermost level that are not looked into."""
        self._in_string = self._skip = False
        self._top_records = 0

    def split(self, head: bytes, stream: BinaryIO) -> Iterator[Record]:
        chunk = head
        while chunk:
            yield from self._feed(chunk)
            if self._buffers and len(self._buffers[-1]) > LONGEST:
                yield Record(self._stack[-1].place, None, problem=f"it is longer than {LONGEST >> 20} MB")
                return
            chunk = stream.read(CHUNK)
        yield from self._stray_record()
        while len(self._stack) > 1:
            level = self._stack.pop()
            if level.kind in ("object", "value"):
                yield Record(level.place, closed(bytes(self._buffers.pop())), level.path, CUT_OFF)
            elif level.kind == "list" and self._buffers and not level.count:
                self._buffers[-1] += b"]"

    def _feed(self, chunk: bytes) -> Iterator[Record]:
        at = mark = 0
        while at < len(chunk):
            if self._skip:
                self._skip = False
                at += 1
                continue
            found = (_INSIDE if self._in_string else _OUTSIDE).search(chunk, at)
            if found is None:
                break
            at = found.end()
            sign = chunk[found.start()]
            if sign == _BACKSLASH:
                self._skip = True
            elif sign == _QUOTE:
                self._in_string = not self._in_string
            elif self._deep:
                self._deep += 1 if sign in b"{[" else -1
            else:
                self._take(chunk[mark : found.start()])
                if sign in b"{[":
                    yield from self._open(sign)
                else:
                    yield from self._close(sign)
                mark = at
        self._take(chunk[mark:])

    def _take(self, data: bytes) -> None:
        if self._stack[-1].kind in ("top", "list"):
            self._stray += data
        else:
            self._buffers[-1] += data

    def _open(self, sign: int) -> Iterator[Record]:
        level = self._stack[-1]
        if level.kind in ("top", "list"):
            yield from self._stray_record()
            if level.kind == "top" and sign == _BRACKET:
                self._stack.append(_Level("list", ""))
                return
            place = self._next_place(level)
            kind = "object" if sign == _BRACE else "value"
            self._stack.append(_Level(kind, level.path, place=place, around=level.around))
            self._buffers.append(bytearray([sign]))
            return
        buffer = self._buffers[-1]
        buffer.append(sign)
        if level.kind == "value":
            self._deep = 1
            return
        key = _KEY.search(bytes(buffer[-101:-1]))
        name = key.group(1).decode("utf-8", "replace") if key else ""
        path = f"{level.path}.{name}" if level.path else name
        if sign == _BRACKET and path in self._opened:
            around = closed(bytes(buffer)) if len(buffer) <= _AROUND else None
            self._stack.append(_Level("list", path, around=around))
        elif sign == _BRACE and _leads(path, self._opened):
            self._stack.append(_Level("inner", path))
        else:
            self._deep = 1

    def _close(self, sign: int) -> Iterator[Record]:
        level = self._stack[-1]
        if level.kind == "top":
            self._stray.append(sign)
            return
        if level.kind == "list":
            yield from self._stray_record()
            self._stack.pop()
            if self._buffers:
                self._buffers[-1].append(sign)
            return
        self._buffers[-1].append(sign)
        self._stack.pop()
        if level.kind != "inner":
            yield _parsed(level, bytes(self._buffers.pop()))

    def _next_place(self, level: _Level) -> str:
        level.count += 1
        if level.path:
            return f"{level.path.rpartition('.')[2]} {level.count}"
        self._top_records += 1
        return f"record {self._top_records}"

    def _stray_record(self) -> Iterator[Record]:
        """What stood between records and is neither white space nor a comma."""
        text = bytes(self._stray).strip(_FILLER)
        self._stray.clear()
        if text and text != b"null":
            level = self._stack[-1]
            shown = text[:_SHOWN].decode("utf-8", "replace")
            yield Record(self._next_place(level), None, level.path, f"it is no JSON object or list: {shown!r}")


CUT_OFF: Final = "the file ends in the middle of it"
_SHOWN: Final = 60
_AROUND: Final = 1 << 20
"""Bytes of an object up to which the elements of its lists are told of it."""
_QUOTE, _BACKSLASH, _BRACE, _BRACKET = b'"\\{['


def _parsed(level: _Level, text: bytes) -> Record:
    try:
        return Record(level.place, loads(text), level.path, around=level.around)
    except ValueError as error:
        return Record(level.place, None, level.path, f"it is not JSON: {error}")


def closed(text: bytes) -> Json:
    """The value that a cut text begins: what it holds completely; None when nothing of it can be read."""
    stack: list[bytes] = []
    kept, closers = 0, b""
    in_string = False
    at = 0
    while (found := (_INSIDE if in_string else _MEMBERS).search(text, at)) is not None:
        sign = found.group()
        at = found.end()
        if sign == b"\\":
            at += 1
        elif sign == b'"':
            in_string = not in_string
        elif sign in (b"{", b"["):
            stack.append(b"}" if sign == b"{" else b"]")
        elif sign == b",":
            kept, closers = found.start(), b"".join(reversed(stack))
        elif stack:
            stack.pop()
            kept, closers = at, b"".join(reversed(stack))
    whole = text + (b'"' if in_string else b"") + b"".join(reversed(stack))
    for attempt in (whole, text[:kept] + closers):
        try:
            return loads(attempt)
        except ValueError:
            continue
    return None


_MEMBERS: Final = re.compile(rb'["{}\[\],]')
