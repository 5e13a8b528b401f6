"""One line of a trace."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ..wire.values import Json, JsonObject

VERSION: Final = 2
"""Of the format. 1: messages only ever appended. 2: ranges of earlier messages and references to earlier texts."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a run, as it stands in the file."""

    id: int
    """Number of the event; rises through the file."""
    ts: float
    """Seconds since the epoch."""
    type: str
    payload: JsonObject
    meta: JsonObject = field(default_factory=dict[str, "Json"])
    parent: int | None = None
    """The request of an `llm_response`, the call of a `tool_result`."""
