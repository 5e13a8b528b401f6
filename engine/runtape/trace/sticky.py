"""Where a request's system prompt and tools stand, which later requests take over until they are given again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..wire.values import Json
from .events import Event


@dataclass(frozen=True, slots=True)
class Sources:
    """The events that a request's `system` and `tools` stand in; None where no earlier request has any."""

    system: Event | None
    tools: Event | None


NO_SOURCES: Final = Sources(None, None)


def stored_field(event: Event | None, name: str) -> Json:
    """A field of an event's payload; None without an event."""
    return None if event is None else event.payload.get(name)
