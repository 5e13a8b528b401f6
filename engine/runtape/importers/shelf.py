"""Calls and tool runs of a trace of any length, on the disk until it is known which of them stay and in what order."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from types import TracebackType
from typing import Any, Final, TypeAlias, cast

from ..canon import dumps, loads
from ..wire.reading import members
from ..wire.values import Json
from .imported import ImportedCall, ImportedTool
from .span import Span, SpanCall

ImportedEvent: TypeAlias = "ImportedCall | ImportedTool"


@dataclass(frozen=True, slots=True)
class Shelved:
    """Where an event is, and what it is ordered by."""

    number: int
    started: float | None
    tie: str = ""
    """Orders those that start at once, before their place in the file does."""


_NONE: Final[Mapping[int, Json]] = {}


class Shelf:
    """A temporary file of events; a context manager that removes it."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="runtape-import-")  # noqa: SIM115 -- closed by __exit__
        self._at: list[tuple[int, int]] = []

    def __enter__(self) -> Shelf:  # noqa: PYI034 -- Self is of Python 3.11
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def put(self, event: ImportedEvent, tie: str = "") -> Shelved:
        """Keep an event."""
        told = {field.name: getattr(event, field.name) for field in fields(event)}
        missing = told.get("missing")
        data = dumps({"call": missing is not None, "told": {**told, "missing": [*(missing or ())]}})
        self._at.append((self._file.seek(0, 2), len(data)))
        self._file.write(data)
        return Shelved(len(self._at) - 1, event.started, tie)

    def in_order(self, slots: Iterable[Shelved], replies: Mapping[int, Json] = _NONE) -> Iterator[ImportedEvent]:
        """The events by their start; one without a start stays behind the one that it follows.

        `replies` take the place of those of the events of these numbers.
        """
        ordered: list[tuple[float, str, int]] = []
        at = float("-inf")
        for slot in slots:
            at = at if slot.started is None else slot.started
            ordered.append((at, slot.tie, slot.number))
        for _, _, number in sorted(ordered):
            event = self._get(number)
            if isinstance(event, ImportedCall) and number in replies:
                event = replace(event, reply=replies[number])
            yield event

    def _get(self, number: int) -> ImportedEvent:
        start, size = self._at[number]
        self._file.seek(start)
        value = members(loads(self._file.read(size)))
        told = cast("dict[str, Any]", members(value["told"]))
        missing = tuple(told.pop("missing"))
        return ImportedCall(**told, missing=missing) if value["call"] else ImportedTool(**told)


def begin(slots: Iterable[Shelved]) -> float | None:
    """When the first event starts, in seconds since the epoch."""
    return min((slot.started for slot in slots if slot.started is not None), default=None)


def light(span: Span) -> Span:
    """A span without its content."""
    return replace(span, attributes={}, events=[])


def light_call(call: SpanCall) -> SpanCall:
    """A call of which only what tells it from others is left."""
    return replace(call, span=light(call.span), call=replace(call.call, body={}, reply=None))
