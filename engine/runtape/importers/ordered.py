"""The order of events: by start, then as they stand in the file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from .imported import ImportedCall, ImportedNote, ImportedTool

_Event = TypeVar("_Event", ImportedCall, ImportedTool, ImportedNote, "ImportedCall | ImportedTool | ImportedNote")


def in_order(events: Iterable[_Event]) -> list[_Event]:
    """The events by their start; one without a start stays behind the one that it follows."""
    kept: list[tuple[float, int, _Event]] = []
    at = float("-inf")
    for index, event in enumerate(events):
        at = at if event.started is None else event.started
        kept.append((at, index, event))
    return [event for _, _, event in sorted(kept, key=lambda item: item[:2])]
