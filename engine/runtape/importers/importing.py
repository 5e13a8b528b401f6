"""Files of any known format, read and written as traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import BadInput
from .checked import checked
from .imported import ImportedCall, Skipped
from .registry import PAIR, Detected, Format, detect, format_named, unknown
from .source import Source
from .supplied import Supplied
from .writing import Origin, Written, write_run


@dataclass(slots=True)
class Read:
    """What became of the files of one format."""

    format: Format
    reasons: dict[str, str]
    """Why each file was taken for one of this format."""
    traces: list[Written] = field(default_factory=list[Written])
    skipped: Counter[str] = field(default_factory=Counter[str])
    """How many records were skipped for each reason."""
    structural: Counter[str] = field(default_factory=Counter[str])
    """Records that are no model call by their nature."""
    first: dict[str, str] = field(default_factory=dict[str, str])
    """The place of the first record that was skipped for a reason."""

    @property
    def calls(self) -> int:
        """Model calls found."""
        return sum(trace.calls for trace in self.traces)

    @property
    def records(self) -> int:
        """Model calls, tool runs and notes found, and what was skipped."""
        found = sum(trace.calls + trace.tools + trace.notes for trace in self.traces)
        return found + self.skipped.total() + self.structural.total()

    @property
    def fidelity(self) -> Counter[str]:
        """How many calls have each label."""
        return sum((trace.fidelity for trace in self.traces), Counter[str]())

    @property
    def missing(self) -> Counter[str]:
        """How many calls lack each part."""
        return sum((trace.missing for trace in self.traces), Counter[str]())

    def skip(self, skipped: Skipped) -> None:
        """Count a record that became nothing."""
        (self.skipped if skipped.notable else self.structural)[skipped.reason] += 1
        self.first.setdefault(skipped.reason, skipped.place)


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """Everything that one import did."""

    read: tuple[Read, ...]
    """By format, in the order of the files."""
    unread: tuple[Skipped, ...]
    """Files that were not read."""

    @property
    def calls(self) -> int:
        """Model calls found."""
        return sum(read.calls for read in self.read)


def import_sources(
    found: Sequence[Source | Skipped], folder: Path, format: str | None = None, supplied: Supplied | None = None
) -> ImportOutcome:
    """Write every run in the sources as a trace into `folder`.

    Raises:
        BadInput: a file cannot be read, or the only one is in no known format, or `format` is none.
        PathRefused: a trace cannot be written.
    """
    groups, unread = _grouped(found, format)
    extra = supplied or Supplied()

    def change(call: ImportedCall) -> ImportedCall:
        return extra.into(checked(call))

    known = {_same_start(path): path.stem for path in sorted(folder.glob("*.jsonl"))}
    for read, sources in groups:
        origin = Origin(_names(sources), read.format.name, next(iter(read.reasons.values())))
        try:
            _write_all(read, sources, folder, origin, change)
            for trace in read.traces:
                trace.twin = known.get(_same_start(trace.path))
        except BadInput as error:
            if len(found) == 1:
                raise
            unread.append(Skipped(_names(sources), str(error)))
    return ImportOutcome(tuple(read for read, _ in groups), tuple(unread))


def _write_all(
    read: Read,
    sources: Sequence[Source],
    folder: Path,
    origin: Origin,
    change: Callable[[ImportedCall], ImportedCall],
) -> None:
    for item in read.format.read(sources):
        if isinstance(item, Skipped):
            read.skip(item)
            continue
        written = write_run(item, folder, origin, change, read.skip)
        if written.calls + written.tools + written.notes == 0:
            written.path.unlink()  # all that it held was skipped, and told of
        else:
            read.traces.append(written)


def _grouped(
    found: Sequence[Source | Skipped], name: str | None
) -> tuple[list[tuple[Read, list[Source]]], list[Skipped]]:
    forced = None if name is None else format_named(name)
    groups: dict[str, tuple[Read, list[Source]]] = {}
    unread: list[Skipped] = []
    for source in found:
        if isinstance(source, Skipped):
            unread.append(source)
            continue
        try:
            detected = Detected(forced, "--format names it") if forced else _detected(source)
        except BadInput as error:
            if len(found) == 1:
                raise
            unread.append(Skipped(source.name, str(error)))
            continue
        if detected is None:
            if len(found) == 1:
                raise BadInput(unknown(source.name))
            unread.append(Skipped(source.name, f"its format is not known. {PAIR}"))
            continue
        read, sources = groups.setdefault(detected.format.name, (Read(detected.format, {}), []))
        read.reasons[source.name] = detected.reason
        sources.append(source)
    return list(groups.values()), unread


def _detected(source: Source) -> Detected | None:
    return next((found for sample in source.samples() if (found := detect(sample)) is not None), None)


def _same_start(path: Path) -> str:
    """A trace's file name without what makes it unique: the run's name and the time of its start."""
    return path.stem.rpartition("-")[0]


def _names(sources: Iterable[Source]) -> str:
    names = [source.name for source in sources]
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
