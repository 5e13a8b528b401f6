"""Formats whose files stand on their own: one after another, value by value."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Final, TypeAlias

from ..errors import BadInput
from ..wire.values import Json, JsonObject
from .imported import ImportedRun, Skipped
from .json_stream import Record
from .source import Source

Runs: TypeAlias = "Callable[[Iterator[Record], str], Iterator[ImportedRun | Skipped]]"
"""The runs in the values of one file, whose name is given."""

_ENDINGS: Final = re.compile(r"(?:\.(?:gz|jsonl?|ndjson|traj|trajectory|eval|zip|db|sqlite3?))+\Z", re.IGNORECASE)


def each_file(
    runs: Runs, opened: Collection[str] = ()
) -> Callable[[Sequence[Source]], Iterator[ImportedRun | Skipped]]:
    """How a format reads files: `runs` on each; values that could not be read are told of behind them."""

    def read_one(source: Source) -> Iterator[ImportedRun | Skipped]:
        broken: list[Skipped] = []
        yield from runs(usable(source.records(opened), broken), stem(source.name))
        yield from broken

    return one_by_one(read_one)


def one_by_one(
    read_one: Callable[[Source], Iterator[ImportedRun | Skipped]],
) -> Callable[[Sequence[Source]], Iterator[ImportedRun | Skipped]]:
    """`read_one` on every file; one of many that cannot be read is told of, and keeps no other from being read."""

    def read(sources: Sequence[Source]) -> Iterator[ImportedRun | Skipped]:
        for source in sources:
            try:
                yield from read_one(source)
            except BadInput as error:
                if len(sources) == 1:
                    raise
                yield Skipped(source.name, str(error))

    return read


def usable(records: Iterable[Record], broken: list[Skipped]) -> Iterator[Record]:
    """The records that have a value; what was wrong with any goes into `broken`."""
    for record in records:
        if record.problem is not None:
            told = "; what was read of it is used" if record.value is not None else ""
            broken.append(Skipped(record.place, f"{record.problem}{told}"))
        if record.value is not None:
            yield record


def stem(name: str) -> str:
    """A file's name without folder and endings, to name runs by."""
    return _ENDINGS.sub("", PurePath(name.replace("!", "/")).name) or name


def first_object(sample: Iterable[Json]) -> JsonObject:
    """The first object among the values; empty when there is none."""
    return next((value for value in sample if isinstance(value, dict)), _NONE)


def lists(records: Iterable[Record]) -> Iterator[list[Record]]:
    """The records, those of one list or of one file of lines together."""
    together: list[Record] = []
    key = None
    for record in records:
        line, element, _ = record.place.partition(", element ")
        found = line if element else ""
        if together and found != key:
            yield together
            together = []
        key = found
        together.append(record)
    if together:
        yield together


_NONE: Final[JsonObject] = {}
