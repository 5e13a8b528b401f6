"""The events of a large trace, left in its file: where each one is, and events that are read when looked at."""

from __future__ import annotations

import bisect
import os
from array import array
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias, overload

from .. import canon
from ..wire.values import JsonObject
from .calls import Call, tools_in
from .events import Event
from .fields import event_of
from .packing import PACKED, text_in, unpacked
from .sticky import NO_SOURCES, Sources

Head: TypeAlias = "tuple[int, float, str, int | None]"
"""Number, time, type and parent of an event."""
_NONE: Final = -1
_KEPT: Final = 1_000_000
"""Bytes of lines whose events are kept after they were read."""


class DiskEvent(Event):
    """An event whose payload and meta are read from the file when they are asked for."""

    __slots__ = ("_at", "_disk")
    _at: int
    _disk: Disk

    def __init__(self, disk: Disk, at: int) -> None:
        number, ts, kind, parent = disk.head(at)
        put = object.__setattr__
        put(self, "_disk", disk)
        put(self, "_at", at)
        put(self, "id", number)
        put(self, "ts", ts)
        put(self, "type", kind)
        put(self, "parent", parent)

    @property
    def payload(self) -> JsonObject:  # pyright: ignore[reportIncompatibleVariableOverride] -- read when asked for
        """See `Event`."""
        return self.in_memory().payload

    @property
    def meta(self) -> JsonObject:  # pyright: ignore[reportIncompatibleVariableOverride] -- as above
        """See `Event`."""
        return self.in_memory().meta

    def in_memory(self) -> Event:
        """The same event, read."""
        return self._disk.read(self._at)

    def __eq__(self, other: object) -> bool:
        return self.in_memory() == (other.in_memory() if isinstance(other, DiskEvent) else other)

    __hash__ = None  # type: ignore[assignment]


class Disk(Sequence[Event]):
    """Events in file order; 42 bytes each while they are not looked at. The file may be removed meanwhile."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
        self._ids, self._parents, self._offsets = array("q"), array("q"), array("q")
        self._sizes, self._times, self._kinds = array("q"), array("d"), array("H")
        self._names: list[str] = []
        self._codes: dict[str, int] = {}
        self._sorted = True
        self.last = _NONE
        """The largest number so far."""
        self._places: dict[int, int] = {}
        self._read: OrderedDict[int, Event] = OrderedDict()
        self._held = 0
        self.calls = _Calls(self)
        self.tools: dict[str, None] = {}
        """Every tool that ran or that a reply asked for, in order of first use."""
        self.models: dict[str, None] = {}
        """Every model that was asked, in order of first use."""

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            os.close(self._file)

    def add(self, head: Head, payload: JsonObject, offset: int, size: int) -> None:
        """Note an event, which stands in the file at `offset`."""
        at = len(self._ids)
        number, ts, kind, parent = head
        if number <= self.last and self._sorted:
            self._sorted = False
            self._places = {known: place for place, known in enumerate(self._ids)}
        if not self._sorted:
            self._places[number] = at
        self.last = max(number, self.last)
        self._ids.append(number)
        self._parents.append(_NONE if parent is None else parent)
        self._offsets.append(offset)
        self._sizes.append(size)
        self._times.append(ts)
        code = self._codes.get(kind)
        if code is None:
            code = self._codes[kind] = len(self._names)
            self._names.append(kind)
        self._kinds.append(code)
        if kind == "llm_request":
            self.calls.add_request(at, payload)
            model = payload.get("model")
            if isinstance(model, str) and model:
                self.models[model] = None
        elif kind in ("llm_response", "tool_call"):
            if kind == "llm_response" and parent is not None:
                self.calls.add_reply(at, parent)
            for name in tools_in(Event(number, ts, kind, payload)):
                self.tools[name] = None

    def find(self, number: int) -> int | None:
        """The place of the event with that number."""
        if not self._sorted:
            return self._places.get(number)
        at = bisect.bisect_left(self._ids, number)
        return at if at < len(self._ids) and self._ids[at] == number else None

    def event(self, number: int) -> Event | None:
        """The event with that number."""
        at = self.find(number)
        return None if at is None else self[at]

    def last_of(self, kind: str) -> Event | None:
        """The last event of a type."""
        code = self._codes.get(kind)
        return None if code is None else self[len(self) - 1 - self._kinds[::-1].index(code)]

    def call(self, number: int) -> Call | None:
        """The call that an `llm_request` or its last `llm_response` belongs to."""
        return self.calls.of(number)

    def head(self, at: int) -> Head:
        """Number, time, type and parent of the event at a place."""
        parent = self._parents[at]
        return self._ids[at], self._times[at], self._names[self._kinds[at]], None if parent == _NONE else parent

    def read(self, at: int) -> Event:
        """The event at a place, out of the file.

        Raises:
            ValueError: the file has been changed since it was first read.
        """
        known = self._read.get(at)
        if known is not None:
            self._read.move_to_end(at)
            return known
        line = os.pread(self._file, self._sizes[at], self._offsets[at])
        event = event_of(canon.loads(line.strip(b"\0 \t\r\n").removeprefix(b"\xef\xbb\xbf")))
        if PACKED in event.meta:
            event = Event(event.id, event.ts, event.type, unpacked(event.payload, self._text), event.meta, event.parent)
        self._read[at] = event
        self._held += self._sizes[at]
        while self._held > _KEPT and len(self._read) > 1:
            old, _ = self._read.popitem(last=False)
            self._held -= self._sizes[old]
        return event

    def _text(self, number: int, path: tuple[str | int, ...]) -> str:
        at = self.find(number)
        return text_in({} if at is None else self.read(at).payload, number, path)

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        if isinstance(index, slice):
            return [DiskEvent(self, at) for at in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return DiskEvent(self, index % len(self))

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[Event]:
        return (DiskEvent(self, at) for at in range(len(self)))


class _Calls(Sequence[Call]):
    """The model calls of a trace on disk, and what a request takes over from those before it."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._requests, self._replies = array("q"), array("q")
        self._system, self._tools = array("q"), array("q")
        self._last: dict[str, tuple[int, int]] = {}

    def add_request(self, at: int, payload: JsonObject) -> None:
        """Note an `llm_request`."""
        provider = str(payload.get("provider"))
        system, tools = self._last.get(provider, (_NONE, _NONE))
        whole = "dropped" not in payload
        if whole:
            system = at if "system" in payload else system
            tools = at if "tools" in payload else tools
            self._last[provider] = system, tools
        self._requests.append(at)
        self._replies.append(_NONE)
        self._system.append(system if whole else _DROPPED)
        self._tools.append(tools)

    def add_reply(self, at: int, request: int) -> None:
        """Note an `llm_response` to the request with that number."""
        place = self._disk.find(request)
        call = None if place is None else self._call(place)
        if call is not None:
            self._replies[call] = at

    def of(self, number: int) -> Call | None:
        """The call that an `llm_request` or its last `llm_response` belongs to."""
        at = self._disk.find(number)
        if at is None:
            return None
        call = self._call(at)
        if call is not None:
            return self[call]
        parent = self._disk.head(at)[3]
        place = None if parent is None else self._disk.find(parent)
        call = None if place is None else self._call(place)
        return self[call] if call is not None and self._replies[call] == at else None

    def request(self, number: int) -> Event | None:
        """The request of that number, if its content is there."""
        at = self._disk.find(number)
        call = None if at is None else self._call(at)
        return None if at is None or call is None or self._system[call] == _DROPPED else self._disk[at]

    def sources(self, number: int) -> Sources:
        """Where the system prompt and the tools of a request stand."""
        at = self._disk.find(number)
        call = None if at is None else self._call(at)
        if call is None:
            return NO_SOURCES
        system, tools = self._system[call], self._tools[call]
        return Sources(
            self._disk[system] if system >= 0 else None,
            self._disk[tools] if tools >= 0 else None,
        )

    def _call(self, at: int) -> int | None:
        call = bisect.bisect_left(self._requests, at)
        return call if call < len(self._requests) and self._requests[call] == at else None

    @overload
    def __getitem__(self, index: int) -> Call: ...
    @overload
    def __getitem__(self, index: slice) -> list[Call]: ...
    def __getitem__(self, index: int | slice) -> Call | list[Call]:
        if isinstance(index, slice):
            return [self[call] for call in range(*index.indices(len(self)))]
        reply = self._replies[index]
        return Call(self._disk[self._requests[index]], None if reply == _NONE else self._disk[reply])

    def __len__(self) -> int:
        return len(self._requests)


_DROPPED: Final = -2
