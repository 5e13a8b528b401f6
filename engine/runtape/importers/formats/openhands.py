"""OpenHands: the events of a conversation, in one file or in one file each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ...wire.reading import members
from ...wire.values import JsonObject
from ..conversation import Setting, conversation
from ..each_file import stem
from ..imported import ImportedCall, ImportedRun, Skipped
from ..moments import seconds
from ..openhands_events import Told
from ..registry import Format
from ..source import Sample, Source
from ..spool import Spool

_SINGLE: Final = re.compile(r"(?:.*[/!])?(?:event-)?\d+[^/!]*\.json\Z")
"""The name of a file that holds one event."""


def recognise(sample: Sample) -> str | None:
    """See `Format`."""
    for value in sample.objects[:5]:
        kind = value.get("kind")
        if (
            isinstance(kind, str)
            and kind.endswith(("Event", "Observation"))
            and {"source", "timestamp"} <= value.keys()
        ):
            return f"its records are events of `kind` {kind} with source and timestamp"
        if {"id", "source", "timestamp"} <= value.keys() and ("action" in value or "observation" in value):
            return "its records are events with `source` and `action` or `observation`"
    return None


def read(sources: Sequence[Source]) -> Iterator[ImportedRun | Skipped]:
    """See `Format`: the events of a file, or of the files of a folder, are a run."""
    with Spool() as spool:
        for source in sources:
            name = source.name.rpartition("/")[0] if _SINGLE.match(source.name) else source.name
            for record in source.records():
                place = f"{source.name.rpartition('/')[2]}, {record.place}"
                if record.problem is not None:
                    yield Skipped(place, record.problem)
                elif isinstance(record.value, dict):
                    spool.add(name, _order(record.value), {"place": place, "value": record.value})
                else:
                    yield Skipped(place, "it is no object")
        for name, group in spool.groups():
            yield from _run(name, group)


def _order(event: JsonObject) -> float:
    number = event.get("id")
    return float(number) if isinstance(number, int) else seconds(event.get("timestamp")) or 0.0


def _run(name: str, group: Iterator[JsonObject]) -> Iterator[ImportedRun | Skipped]:
    told = Told()
    for item in group:
        event = members(item["value"])
        if not told.take(str(item["place"]), event):
            kind = event.get("kind") or event.get("action") or event.get("observation")
            yield Skipped(str(item["place"]), f"an event of kind {kind!r}, no part of the conversation", notable=False)
    missing = [*([] if told.has_system else ["system"]), *([] if told.tools else ["tools"]), "params"]
    setting = Setting(model=told.model, tools=told.tools or None, missing=tuple(missing))
    events = conversation(told.turns, setting)
    if any(isinstance(event, ImportedCall) for event in events):
        started = next((turn.started for turn in told.turns if turn.started is not None), None)
        yield ImportedRun(stem(name), events, started)
    else:
        yield Skipped(name, "events without a reply of the model")


FORMAT: Final = Format(
    "openhands",
    "OpenHands events",
    "events with `source`, and `kind`, `action` or `observation`",
    recognise,
    read,
)
