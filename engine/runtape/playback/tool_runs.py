"""The recorded tool runs that the agent has not asked for again yet."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from ..canon import digest
from ..jsonable import jsonable
from ..trace.calls import tool_of
from ..trace.events import Event
from ..trace.marks import marks_in
from ..trace.redact import redact
from ..trace.trace import Trace
from ..wire.values import Json
from .divergence import SHOWN, Divergence, differences


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One tool run of the record."""

    event: int
    """Its `tool_call`."""
    name: str
    arguments: Json
    result: Event | None


class ToolRuns:
    """Gives each tool call its recorded run: same tool, equal arguments, the earliest that is left."""

    def __init__(self, trace: Trace) -> None:
        results = {event.parent: event for event in trace.events if event.type == "tool_result"}
        self._left = [
            RecordedRun(event.id, tool_of(event) or "", event.payload.get("arguments"), results.get(event.id))
            for event in trace.events
            if event.type == "tool_call"
        ]
        self._lock = threading.Lock()

    @property
    def left(self) -> list[int]:
        """Events of the recorded runs that were not asked for again, in order."""
        with self._lock:
            return [run.event for run in self._left]

    def take(self, name: str, arguments: dict[str, Any]) -> RecordedRun | Divergence:
        """The recorded run of a call; how it differs from the nearest one where there is none that can be played."""
        now = redact(jsonable(arguments))
        step = f"tool call of {name}"
        with self._lock:
            alike = [run for run in self._left if run.name == name]
            for run in alike:
                if digest(run.arguments) == digest(now):
                    self._left.remove(run)
                    return run if (trouble := _trouble(run)) is None else Divergence(step, trouble, run.event)
        if not alike:
            return Divergence(step, "no recorded run of this tool is left.")
        found = [(differences(run.arguments, now), run) for run in alike]
        different, nearest = min(found, key=lambda entry: len(entry[0]))
        reason = "no recorded run that is left has these arguments."
        return Divergence(step, reason, nearest.event, tuple(different[:SHOWN]), len(different[SHOWN:]))


def _trouble(run: RecordedRun) -> str | None:
    if run.result is None:
        return "its recorded run has no result."
    if marks_in(run.result.payload.get("result")).cut:
        return "its recorded result was cut for its size and cannot be given again."
    return None
