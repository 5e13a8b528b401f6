"""Records cut out of a stream of JSON by brackets and quotes alone, without parsing what is around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from ..canon import loads
from ..wire.values import Json

CHUNK: Final = 1 << 18
LONGEST: Final = 1 << 28
"""Bytes of one record; a larger one is refused, so that memory stays bounded."""

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


def leads(path: str, opened: frozenset[str]) -> bool:
    """True when an opened list stands somewhere below the path."""
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


class Splitter:
    """Cuts one stream into its records; see `json_stream.records`."""

    def __init__(self, opened: frozenset[str], *, by_line: bool = False) -> None:
        self._opened = opened
        self._by_line = by_line
        """True when a line that begins with a value of its own ends the one before it, torn or not."""
        self._last = b","
        """The last byte that was no white space."""
        self._fresh = False
        """True from the beginning of a line to its first byte that is no white space."""
        self._stack = [_Level("top", "")]
        self._buffers: list[bytearray] = []
        self._stray = bytearray()
        self._deep = 0
        """Open brackets inside the innermost level that are not looked into."""
        self._in_string = self._skip = False
        self._top_records = 0

    def split(self, head: bytes, stream: BinaryIO) -> Iterator[Record]:
        """Every record of the stream that begins with `head`."""
        chunk = head
        while chunk:
            yield from self._by_lines(chunk) if self._by_line else self._feed(chunk)
            if self._buffers and len(self._buffers[-1]) > LONGEST:
                yield Record(self._stack[-1].place, None, problem=f"it is longer than {LONGEST >> 20} MB")
                return
            chunk = stream.read(CHUNK)
        yield from self._end(CUT_OFF)

    def _by_lines(self, chunk: bytes) -> Iterator[Record]:
        for number, line in enumerate(chunk.split(b"\n")):
            self._fresh = self._fresh or number > 0
            text = line.strip()
            if text and self._fresh:
                self._fresh = False
                if text[:1] == b"{" and self._buffers and self._last not in b",[{:":
                    yield from self._end(TORN)
            self._last = text[-1:] or self._last
            yield from self._feed(b"\n" + line if number else line)

    def _end(self, problem: str) -> Iterator[Record]:
        """What is open when the file ends, or a line that is torn."""
        yield from self._stray_record()
        cut_inside = False
        while len(self._stack) > 1:
            level = self._stack.pop()
            if level.kind in ("object", "value"):
                cut_inside = True
                yield Record(level.place, closed(bytes(self._buffers.pop())), level.path, problem)
            elif level.kind == "list" and self._buffers and not level.count:
                self._buffers[-1] += b"]"
            elif level.kind == "list" and not level.path and not cut_inside:
                yield Record(
                    f"record {self._top_records}", None, problem="the file ends behind it, before its list does"
                )
        self._deep = 0
        self._in_string = self._skip = False

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
        elif sign == _BRACE and leads(path, self._opened):
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
TORN: Final = "its line ends in the middle of it"
_SHOWN: Final = 60
_AROUND: Final = 1 << 20
"""Bytes of an object up to which the elements of its lists are told of it."""
_QUOTE, _BACKSLASH, _BRACE, _BRACKET = b'"\\{['


def parsed_json(text: bytes) -> Json:
    """The value of a JSON text, in which a comma may stand behind the last element or member.

    Raises:
        ValueError: as `loads`.
    """
    try:
        return loads(text)
    except ValueError:
        without = _LAST_COMMA.sub(lambda found: found.group(1) or b"", text)
        if without == text:
            raise
        return loads(without)


_LAST_COMMA: Final = re.compile(rb'("[^"\\]*(?:\\.[^"\\]*)*")|,(?=\s*[}\]])', re.DOTALL)


def _parsed(level: _Level, text: bytes) -> Record:
    try:
        return Record(level.place, parsed_json(text), level.path, around=level.around)
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
