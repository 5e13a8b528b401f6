"""One span of a trace, whatever wrote it down."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..wire.values import Json, JsonObject
from .imported import ImportedCall


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """Something that happened within a span: an event of it, or a log record that names it."""

    name: str
    attributes: JsonObject
    body: Json = None
    at: float | None = None
    """When a log record was made, in seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class Span:
    """One span."""

    place: str
    trace: str
    id: str
    parent: str | None
    name: str
    scope: str
    """What wrote it; empty when the file does not tell."""
    started: float | None
    ended: float | None
    attributes: JsonObject
    events: list[SpanEvent] = field(default_factory=list[SpanEvent])
    error: str | None = None

    @property
    def latency_ms(self) -> float | None:
        """How long it took."""
        if self.started is None or self.ended is None or self.ended < self.started:
            return None
        return round((self.ended - self.started) * 1000, 3)

    @property
    def failure(self) -> JsonObject | None:
        """What went wrong, as an event tells it."""
        if self.error is None:
            return None
        kind = self.attributes.get("error.type")
        return {"type": kind if isinstance(kind, str) else "error", "message": self.error}


@dataclass(frozen=True, slots=True)
class SpanCall:
    """A span that is a model call."""

    span: Span
    call: ImportedCall
    response: str | None = None
    """The id of the response."""


def first_of(attributes: JsonObject, *keys: str) -> Json:
    """The value under the first of the keys that has one."""
    return next((attributes[key] for key in keys if attributes.get(key) is not None), None)
