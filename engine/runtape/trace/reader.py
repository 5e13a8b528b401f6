"""The events of a trace file, and what was wrong with it.

A trace is untrusted input, and may be what a killed process or a full disk has left: every line is read for itself,
and one that cannot be used is set aside with its place and a reason.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final

import orjson

from .. import canon
from ..errors import BrokenRequest, TraceNotFound, TraceUnreadable
from ..wire.values import Json, JsonObject
from .disk import Disk
from .events import VERSION, Event
from .fields import LARGEST, Misfit, event_of, has_lost_numbers
from .looks import looks_like
from .packing import PACKED, text_in, unpacked

MAX_LINE: Final = 128_000_000
"""Bytes of one line; twice what a recorder writes."""
IN_MEMORY: Final = 4_000_000
"""Bytes of a file whose events are all kept in memory."""
_BUFFER: Final = 1 << 20
MAX_PROBLEMS: Final = 1_000
"""Problems told one by one; the last one counts the rest."""

_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that was wrong with a file."""

    line: int
    """From 1."""
    offset: int
    """Bytes before the line."""
    reason: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file held."""

    events: list[Event] | Disk
    """In file order, each number once; left in the file when it is large."""
    problems: list[Problem]
    """In file order. The event on the line is left out, unless the reason says that it is kept."""
    truncated: bool
    """True when the last line is cut off: its writer was stopped in the middle of it."""


def read(path: Path, *, in_memory: int = IN_MEMORY) -> Reading:
    """Every usable event of the file at `path`; of one of more than `in_memory` bytes they stay in the file.

    Raises:
        TraceNotFound: there is no such file.
        TraceUnreadable: it cannot be opened, or holds no usable event.
    """
    try:
        with path.open("rb", buffering=_BUFFER) as file:
            large = os.fstat(file.fileno()).st_size > in_memory
            found = _Found(Disk(path) if large else [])
            for line in _lines(file, found.is_taken if large else _never):
                found.take(line)
        if not found.events:
            why = f" (line {found.problems[0].line}: {found.problems[0].reason})" if found.problems else ""
            raise TraceUnreadable(f"{path.name!r} holds no event: {looks_like(path)}{why}")
    except (FileNotFoundError, ValueError) as error:  # ValueError: a zero byte in the path
        raise TraceNotFound(f"there is no trace at {str(path)!r}; `runtape ls` lists those that exist") from error
    except IsADirectoryError as error:
        raise TraceUnreadable(f"{str(path)!r} is a directory; name a trace file in it") from error
    except OSError as error:
        raise TraceUnreadable(f"{str(path)!r} cannot be read: {error.strerror}") from error
    return found.reading()


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    offset: int
    raw: bytes | None
    """None when it is longer than `MAX_LINE`."""
    ended: bool
    """False when the file ends without a line end."""


def _lines(file: BinaryIO, is_taken: Callable[[bytes, int], bool]) -> Iterator[_Line]:
    """Every line of the file but those that `is_taken` is true of."""
    number, offset = 0, 0
    while raw := file.readline(MAX_LINE):
        number += 1
        if is_taken(raw, offset):
            offset += len(raw)
            continue
        size, end = len(raw), raw[-1:]
        while end != b"\n" and (rest := file.readline(MAX_LINE)):
            size, end = size + len(rest), rest[-1:]
        yield _Line(number, offset, raw if size == len(raw) else None, end == b"\n")
        offset += size


class _Found:
    """What has been read so far."""

    def __init__(self, events: list[Event] | Disk) -> None:
        self.events = events
        self.problems: list[Problem] = []
        self.untold = 0
        self.truncated = False
        self._numbers: dict[int, Event] = {}
        self._whole_requests: set[int] = set()

    def reading(self) -> Reading:
        problems = self.problems
        if self.untold:
            last = problems[-1]
            problems = [*problems, Problem(last.line, last.offset, f"{self.untold} more problems behind this line")]
        return Reading(self.events, problems, self.truncated)

    def is_taken(self, raw: bytes, offset: int) -> bool:
        """Note the event on a line of a large file, if nothing about the line is special."""
        disk = self.events
        if not isinstance(disk, Disk) or not raw.endswith(b"}\n"):
            return False
        try:
            # Only the table is made now, for which it does not matter that long integers are rounded.
            value: Json = orjson.loads(raw)
        except orjson.JSONDecodeError:
            return False
        if not isinstance(value, dict):
            return False
        number, ts, kind, parent = value.get("id"), value.get("ts"), value.get("type"), value.get("parent")
        payload = value.get("payload")
        if type(number) is not int or type(ts) is not float or type(kind) is not str or not isinstance(payload, dict):
            return False
        if not isinstance(value.get("meta"), dict) or not disk.last < number < LARGEST or not 0 <= ts < LARGEST:
            return False
        if not (parent is None or (type(parent) is int and 0 <= parent < number and disk.find(parent) is not None)):
            return False
        if kind == "run_start" or (kind == "llm_request" and not self._is_plain(number, payload)):
            return False
        disk.add((number, ts, kind, parent), payload, offset, len(raw))
        return True

    def _is_plain(self, number: int, payload: JsonObject) -> bool:
        """True of a request that stands whole in the file, or goes on from one that does."""
        base = payload.get("base")
        own = "messages" if base is None else "messages_append"
        if "dropped" in payload or not isinstance(payload.get(own), list):
            return False
        if base is not None and (type(base) is not int or base not in self._whole_requests):
            return False
        self._whole_requests.add(number)
        return True

    def take(self, line: _Line) -> None:
        if line.raw is None:
            self._problem(line, f"longer than {MAX_LINE} bytes")
            return
        raw = line.raw.removeprefix(_BOM) if line.offset == 0 else line.raw
        text = raw.strip(b"\0 \t\r\n")
        if not text:
            if b"\0" in raw:
                self.truncated = self.truncated or not line.ended
                self._problem(line, "only zero bytes, as a power failure leaves them")
            return
        try:
            self._add(line, text)
        except Misfit as misfit:
            self._problem(line, str(misfit))
        except ValueError as error:
            self.truncated = self.truncated or not line.ended
            self._problem(line, f"not JSON: {error}" if line.ended else f"the last line is cut off: {error}")

    def _add(self, line: _Line, text: bytes) -> None:
        event, lost = event_of(canon.loads(text)), has_lost_numbers(text)
        if self._is_known(event.id):
            raise Misfit(f"a second event with the number {event.id}")
        if isinstance(self.events, Disk):
            head = (event.id, event.ts, event.type, event.parent)
            self.events.add(head, event.payload, line.offset, len(line.raw or b""))
        else:
            if PACKED in event.meta:
                event = self._unpacked(line, event)
            self._numbers[event.id] = event
            self.events.append(event)
        if lost:
            self._problem(line, f"event {event.id} is kept; NaN or an infinite number in it is read as null")
        if event.type == "run_start" and _is_newer(event.payload.get("version")):
            self._problem(line, "it was written by a newer version of runtape; update to read all of it")
        if event.parent is not None and (event.parent == event.id or not self._is_known(event.parent)):
            self._problem(line, f"event {event.id} is kept; its parent {event.parent} does not stand before it")
        if event.type == "llm_request":
            self._check_request(line, event)

    def _is_known(self, number: int) -> bool:
        return self.events.find(number) is not None if isinstance(self.events, Disk) else number in self._numbers

    def _unpacked(self, line: _Line, event: Event) -> Event:
        try:
            return replace(event, payload=unpacked(event.payload, self._text))
        except BrokenRequest as broken:
            self._problem(line, f"event {event.id} is kept; a text in it cannot be put together: {broken}")
            return event

    def _text(self, number: int, path: tuple[str | int, ...]) -> str:
        known = self._numbers.get(number)
        return text_in({} if known is None else known.payload, number, path)

    def _check_request(self, line: _Line, event: Event) -> None:
        base = event.payload.get("base")
        if "dropped" in event.payload:
            self._problem(line, f"event {event.id} is kept but cannot be rerun; its content was left out when recorded")
        elif base is None or (type(base) is int and base in self._whole_requests):
            own = "messages" if base is None else "messages_parts"
            own = own if own in event.payload else "messages" if base is None else "messages_append"
            if isinstance(event.payload.get(own), list):
                self._whole_requests.add(event.id)
            else:
                self._problem(line, f"event {event.id} is kept but cannot be rerun; it has no list of `{own}`")
        else:
            self._problem(line, f"event {event.id} is kept but cannot be rerun; what it builds on is not before it")

    def _problem(self, line: _Line, reason: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(line.number, line.offset, reason))
        else:
            self.untold += 1


def _is_newer(version: Json) -> bool:
    return isinstance(version, int) and version > VERSION


def _never(_raw: bytes, _offset: int) -> bool:
    return False
