"""A run at a glance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal, Protocol

from .calls import Call, tools_in
from .events import Event
from .writing_lock import is_held

Status = Literal["ok", "error", "recording", "crashed", "unknown"]


@dataclass(frozen=True, slots=True)
class Summary:
    """What one trace holds."""

    name: str
    """What the run was called; the file's name when it was not called anything."""
    started: str | None
    """ISO 8601, UTC; None when the events have no times."""
    status: Status
    """How the run says that it ended; `recording` when it has no end and its writer still holds the file,
    `crashed` when it began and has no end, `unknown` when it tells neither."""
    events: int
    model_calls: int
    tools: tuple[str, ...]
    """Every tool that ran or that a reply asked for, in order of first use."""
    models: tuple[str, ...]
    """Every model that was asked, in order of first use."""
    duration: float | None
    """Seconds from the first event to the last; None when the events have no times."""
    problems: int
    """Lines of the file that could not be read fully."""


class Table(Protocol):
    """What is known of the events of a trace without looking at each."""

    @property
    def calls(self) -> Sequence[Call]:
        """The model calls."""
        ...

    @property
    def tools(self) -> Iterable[str]:
        """Every tool that ran or that a reply asked for, in order."""
        ...

    @property
    def models(self) -> Iterable[str]:
        """Every model that was asked, in order."""
        ...

    def last_of(self, kind: str) -> Event | None:
        """The last event of a type."""
        ...


def summary_of(path: Path, events: Sequence[Event], problems: int, table: Table) -> Summary:
    """The summary of a trace that holds at least one event; `path` is its file."""
    first, last = events[0], events[-1]
    called = first.payload.get("name") if first.type == "run_start" else None
    return Summary(
        name=called if isinstance(called, str) and called else path.stem,
        started=_iso(first.ts),
        status=_status(table, path),
        events=len(events),
        model_calls=len(table.calls),
        tools=tuple(dict.fromkeys(table.tools)),
        models=tuple(dict.fromkeys(table.models)),
        duration=_duration(first, last),
        problems=problems,
    )


def _status(table: Table, path: Path) -> Status:
    ended = table.last_of("run_end")
    if ended is None:
        if is_held(path):
            return "recording"
        return "unknown" if table.last_of("run_start") is None else "crashed"
    status = ended.payload.get("status")
    if status == "ok":
        return "ok"
    return "error" if status == "error" else "unknown"


def _duration(first: Event, last: Event) -> float | None:
    told = last.payload.get("duration_ms") if last.type == "run_end" else None
    if isinstance(told, (int, float)) and not isinstance(told, bool) and 0 <= told < _LONGEST:
        return told / 1000  # measured by a clock that nobody sets, unlike the events' times
    return max(last.ts - first.ts, 0.0) if first.ts and last.ts else None


_LONGEST = 1e12


def _iso(ts: float) -> str | None:
    try:
        return datetime.fromtimestamp(ts, timezone.utc).isoformat(timespec="seconds") if ts else None
    except (OverflowError, OSError, ValueError):
        return None


def tools_of(events: Iterable[Event]) -> Iterator[str]:
    """Every tool that ran or that a reply asked for."""
    return (name for event in events for name in tools_in(event))


def models_of(events: Iterable[Event]) -> Iterator[str]:
    """Every model that was asked."""
    for event in events:
        model = event.payload.get("model") if event.type == "llm_request" else None
        if isinstance(model, str) and model:
            yield model
