"""The formats that can be imported, and which one a file is in.

Another package adds one by an entry point of the group `runtape.importers` that names its `Format`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Final, TypeAlias, cast

from ..errors import BadInput
from .imported import ImportedRun, Skipped
from .source import Sample, Source

GROUP: Final = "runtape.importers"

PAIR: Final = "A request and its response go in as one JSON object with `request` and `response`."
"""What a file that holds one half of a call should be."""

Readings: TypeAlias = "Iterator[ImportedRun | Skipped]"


@dataclass(frozen=True, slots=True)
class Format:
    """One format of recordings."""

    name: str
    """As `--format` takes it."""
    title: str
    """For a person."""
    looks_for: str
    """What a file of this format holds, in a few words."""
    recognise: Callable[[Sample], str | None]
    """Why a file is of this format, in words; None when it is not."""
    read: Callable[[Sequence[Source]], Readings]
    """The runs in the files of this format, which may belong together, and what was skipped."""


@dataclass(frozen=True, slots=True)
class Detected:
    """The format of a file."""

    format: Format
    reason: str


# Formats whose marks may also stand inside of another one come after it.
_MODULES: Final[tuple[str, ...]] = (
    "http_archive",
    "vcr",
    "runtape_v1",
    "inspect_ai",
    "atif",
    "claude_code",
    "codex",
    "agentdojo",
    "tau_bench",
    "openai_agents",
    "pydantic_ai",
    "openhands",
    "swe_agent",
    "langfuse",
    "langsmith",
    "litellm",
    "batch",
    "opentelemetry",
)


@cache
def formats() -> tuple[Format, ...]:
    """Every format, those of other packages first.

    Raises:
        BadInput: a package names something that is no `Format`.
    """
    found: list[Format] = []
    for entry in entry_points(group=GROUP):
        try:
            loaded: object = entry.load()
        except Exception as error:
            raise BadInput(f"the importer {entry.name!r} ({entry.value}) cannot be loaded: {error}") from error
        if not isinstance(loaded, Format):
            raise BadInput(f"the importer {entry.name!r} ({entry.value}) is no runtape.importers.registry.Format")
        found.append(loaded)
    for module in _MODULES:
        loaded = importlib.import_module(f".formats.{module}", __package__)
        found.append(cast("Format", vars(loaded)["FORMAT"]))
    return tuple(found)


def format_named(name: str) -> Format:
    """The format that `--format` names.

    Raises:
        BadInput: there is none; the text names all.
    """
    known = {each.name: each for each in formats()}
    if name not in known:
        raise BadInput(f"there is no format {name!r}; the formats are {', '.join(sorted(known))}")
    return known[name]


def detect(sample: Sample) -> Detected | None:
    """The format of a file, by its first bytes; None when it is in none that is known."""
    for known in formats():
        reason = known.recognise(sample)
        if reason is not None:
            return Detected(known, reason)
    return None


def unknown(name: str) -> str:
    """What to tell about a file whose format is not known."""
    names = ", ".join(sorted(known.name for known in formats()))
    return (
        f"{name!r} is in no format that is known. {PAIR} Name a format with --format: {names}; docs/importing.md says "
        "what each looks for."
    )
