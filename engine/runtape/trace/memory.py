"""The events of a trace that is small enough to be kept in memory, to be found by number."""

from __future__ import annotations

from collections.abc import Sequence

from .calls import Call, calls_of
from .events import Event
from .summary import models_of, tools_of


class Memory:
    """What `Disk` tells of a large trace, told of events in memory."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.calls = calls_of(events)
        self._events = events
        self._by_number = {event.id: event for event in events}
        self._call_of = {part.id: call for call in self.calls for part in (call.request, call.response) if part}

    @property
    def tools(self) -> Sequence[str]:
        """Every tool that ran or that a reply asked for."""
        return tuple(tools_of(self._events))

    @property
    def models(self) -> Sequence[str]:
        """Every model that was asked."""
        return tuple(models_of(self._events))

    def last_of(self, kind: str) -> Event | None:
        """The last event of a type."""
        return next((event for event in reversed(self._events) if event.type == kind), None)

    def event(self, number: int) -> Event | None:
        """The event of that number."""
        return self._by_number.get(number)

    def call(self, number: int) -> Call | None:
        """The call that an `llm_request` or its last `llm_response` belongs to."""
        return self._call_of.get(number)
