"""The events of a trace file, and what was wrong with it.

A trace is untrusted input, and may be what a killed process or a full disk has left: every line is read for itself,
and one that cannot be used is set aside with its place and a reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from .. import canon
from ..errors import TraceNotFound, TraceUnreadable
from .events import Event
from .fields import Misfit, event_of, has_lost_numbers
from .looks import looks_like

MAX_LINE: Final = 128_000_000
"""Bytes of one line; twice what a recorder writes."""
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

    events: list[Event]
    """In file order, each number once."""
    problems: list[Problem]
    """In file order. The event on the line is left out, unless the reason says that it is kept."""
    truncated: bool
    """True when the last line is cut off: its writer was stopped in the middle of it."""


def read(path: Path) -> Reading:
    """Every usable event of the file at `path`.

    Raises:
        TraceNotFound: there is no such file.
        TraceUnreadable: it cannot be opened, or holds no usable event.
    """
    found = _Found()
    try:
        with path.open("rb") as file:
            for line in _lines(file):
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


def _lines(file: BinaryIO) -> Iterator[_Line]:
    number, offset = 0, 0
    while raw := file.readline(MAX_LINE):
        number += 1
        size, end = len(raw), raw[-1:]
        while end != b"\n" and (rest := file.readline(MAX_LINE)):
            size, end = size + len(rest), rest[-1:]
        yield _Line(number, offset, raw if size == len(raw) else None, end == b"\n")
        offset += size


class _Found:
    """What has been read so far."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.problems: list[Problem] = []
        self.untold = 0
        self.truncated = False
        self._numbers: set[int] = set()
        self._whole_requests: set[int] = set()

    def reading(self) -> Reading:
        problems = self.problems
        if self.untold:
            last = problems[-1]
            problems = [*problems, Problem(last.line, last.offset, f"{self.untold} more problems behind this line")]
        return Reading(self.events, problems, self.truncated)

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
        event = event_of(canon.loads(text))
        if event.id in self._numbers:
            raise Misfit(f"a second event with the number {event.id}")
        self._numbers.add(event.id)
        self.events.append(event)
        if has_lost_numbers(text):
            self._problem(line, f"event {event.id} is kept; NaN or an infinite number in it is read as null")
        if event.parent is not None and (event.parent not in self._numbers or event.parent == event.id):
            self._problem(line, f"event {event.id} is kept; its parent {event.parent} does not stand before it")
        if event.type == "llm_request":
            self._check_request(line, event)

    def _check_request(self, line: _Line, event: Event) -> None:
        base = event.payload.get("base")
        if "dropped" in event.payload:
            self._problem(line, f"event {event.id} is kept but cannot be rerun; its content was left out when recorded")
        elif base is None or (type(base) is int and base in self._whole_requests):
            own = "messages" if base is None else "messages_append"
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
