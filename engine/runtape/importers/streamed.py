"""A run of any length whose events are made one by one while they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from ..wire.reading import members
from ..wire.values import JsonObject
from .imported import ImportedCall, ImportedRun, Skipped


def streamed_run(
    name: str, items: Iterator[JsonObject], call_of: Callable[[str, JsonObject], ImportedCall | Skipped]
) -> ImportedRun:
    """The run of items that hold `place` and `value`; it begins when its first call does."""
    events = (call_of(str(item["place"]), members(item["value"])) for item in items)
    seen: list[ImportedCall | Skipped] = []
    started = None
    for event in events:
        seen.append(event)
        if isinstance(event, ImportedCall):
            started = event.started
            break
    return ImportedRun(name, chain(seen, events), started)
