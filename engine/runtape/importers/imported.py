"""What every format is read into: runs of model calls and tool runs, each with the place that it came from.

A request stays in the shape of the API that it was made with, a reply in the shape of that API's answer. What a source
does not hold is named in `missing` and never made up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from ..trace.fidelity import Label
from ..wire.values import Json, JsonObject

Fidelity: TypeAlias = Label


@dataclass(frozen=True, slots=True)
class ImportedCall:
    """One model call."""

    place: str
    """Where it stands in the source, for a person: `span 00f0…`, `line 12`, `entry 3`."""
    api: str
    """`chat.completions`, `responses` or `messages`."""
    provider: str
    """`openai`, `anthropic`, or what the source calls it."""
    endpoint: str | None
    """Base URL, such as `https://api.openai.com/v1`; None when the source does not tell."""
    body: JsonObject
    """The request in the shape of `api`."""
    reply: Json
    """The response body in the shape of `api`; None when the source holds none."""
    fidelity: Fidelity
    missing: tuple[str, ...] = ()
    """What the body lacks: `system`, `tools`, `params`, `images`, `reasoning`, or a few words."""
    why: str | None = None
    """Why the call is not rebuildable, or what else there is to know about how it was put together."""
    started: float | None = None
    """Seconds since the epoch."""
    latency_ms: float | None = None
    error: JsonObject | None = None
    """`{"type", "message"}` of a call that failed."""
    status: int | None = None
    """HTTP status, where the source tells."""
    complete: bool = True
    """False when the reply is a stream that was cut."""


@dataclass(frozen=True, slots=True)
class ImportedTool:
    """One run of a tool."""

    place: str
    name: str
    arguments: Json
    result: Json
    """As the source holds it; text stays text."""
    error: JsonObject | None = None
    call_id: str | None = None
    started: float | None = None
    latency_ms: float | None = None


@dataclass(frozen=True, slots=True)
class ImportedNote:
    """Something else that is worth a line in the trace: a score, a planted text, a hand-over."""

    place: str
    message: str
    facts: JsonObject = field(default_factory=dict[str, Json])
    started: float | None = None


ImportedEvent: TypeAlias = "ImportedCall | ImportedTool | ImportedNote"


@dataclass(frozen=True, slots=True)
class Skipped:
    """One record that became no event, or only a part of one."""

    place: str
    reason: str
    """The same words for the same reason, so that they can be counted; particulars belong to `place`."""
    notable: bool = True
    """False for a record that is no model call by its nature (a structural span): counted, not warned of."""


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """One run of an agent; becomes one trace."""

    name: str
    events: Iterable[ImportedEvent | Skipped]
    """In the order in which they happened; gone through once."""
    started: float | None = None
    """Seconds since the epoch."""
    tags: JsonObject = field(default_factory=dict[str, Json])
    """What the source says about the whole run: a benchmark's task, a session's id, its score."""
