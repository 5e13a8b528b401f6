"""Jobs as answers: the fields of their results, fenced and cut to what an answer has room for, and where the job is.

The fields are those of `runtape.report.fields`, which `--json` prints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from mcp.types import CallToolResult, TextContent

from runtape.report.fields import Show, fix_fields, rerun_fields, why_fields
from runtape.report.results import Distribution, FixReport, WhyReport
from runtape.wire.values import Json, JsonObject

from .fence import Fence
from .jobs import Job
from .schemas import Answer, FixAnswer, RerunAnswer, WhyAnswer

STRUCTURED = 5200
"""Characters of structured content; with the prose under 8,000."""
_WORDS = 120
"""Characters of what an agent did, or of a name that a caller gave."""
_NOTE = 240
"""Characters of each part of a note."""

A = TypeVar("A", bound=Answer)


@dataclass(frozen=True, slots=True)
class Room:
    """How much an answer shows."""

    rows: int
    """Causes or candidates."""
    passage: int
    """Characters of each recorded text."""

    @property
    def most(self) -> dict[str, int]:
        """Most entries of each list, by its field."""
        return {
            "causes": self.rows,
            "required": self.rows // 2,
            "candidates": max(self.rows, 4),
            "counts": self.rows,
            "untested": 6,
            "refs": 8,
            "events": 8,
            "forms": self.rows,
            "instead": 3,
            "upstream": self.rows,
            "not_followed": 4,
            "notes": 4,
        }


_ROOMS = (Room(8, 400), Room(8, 160), Room(5, 120), Room(3, 80), Room(1, 40))
"""Tried in this order until the answer fits."""

_UNKNOWN: JsonObject = {
    "decision": "",
    "base": {"kept": 0, "n": 0},
    "causes": [],
    "required": [],
    "untested": [],
    "upstream": [],
    "notes": [],
}
"""What an answer holds before anything is known."""
_UNMEASURED: JsonObject = {"candidates": [], "best": None}
_UNCOUNTED: JsonObject = {
    "decision": "",
    "counts": [],
    "kept": {"kept": 0, "n": 0},
    "interval": [0.0, 1.0],
    "notes": [],
}


def why_answer(job: Job, fence: Fence, next_step: str) -> WhyAnswer:
    """The answer of `why`: what is proven so far."""
    return _answer(WhyAnswer, job, fence, next_step, lambda show: _why(job, show))


def fix_answer(job: Job, fence: Fence, next_step: str) -> FixAnswer:
    """The answer of `fix`: the candidates measured so far, and the causes while those are looked for."""

    def fields(show: Show) -> JsonObject:
        if isinstance(job.report, FixReport):
            return fix_fields(job.report, show)
        return {**_why(job, show), **_UNMEASURED}

    return _answer(FixAnswer, job, fence, next_step, fields)


def rerun_answer(job: Job, fence: Fence, next_step: str) -> RerunAnswer:
    """The answer of `rerun`: what the agent does, how often."""

    def fields(show: Show) -> JsonObject:
        if not isinstance(job.report, Distribution):
            return _UNCOUNTED
        told = rerun_fields(job.report, show)
        return {**told, "notes": [*_lost(job.report, show), *(show.said(note) for note in job.report.notes)]}

    return _answer(RerunAnswer, job, fence, next_step, fields)


def _lost(seen: Distribution, show: Show) -> list[Json]:
    """What became of the reruns that are not among the counted ones."""
    void = ", ".join(f"{times} {verdict}" for verdict, times in seen.tally.void)
    lost: list[Json] = [f"Not counted: {void}."] if void else []
    if seen.tally.broken:
        lost.append(f"The model's server refused the request: {show.name(seen.tally.broken)}")
    return lost


def result(answer: Answer, prose: str) -> CallToolResult:
    """A tool's result in both forms."""
    return CallToolResult(
        content=[TextContent(type="text", text=prose)], structured_content=answer.model_dump(by_alias=True, mode="json")
    )


def _why(job: Job, show: Show) -> JsonObject:
    return why_fields(job.report, show) if isinstance(job.report, WhyReport) else _UNKNOWN


def _answer(kind: type[A], job: Job, fence: Fence, next_step: str, fields: Callable[[Show], JsonObject]) -> A:
    """The answer with as much recorded text as fits, and a count of what did not."""

    def filled(room: Room) -> A:
        left_out: Counter[str] = Counter()
        known = {name: value for name, value in fields(shown(fence, room.passage)).items() if name in kind.model_fields}
        cut = _cut(known, room.most, left_out)
        return kind.model_validate({**cut, **_state(job), "next": next_step + _elsewhere(job, left_out)})

    *rooms, smallest = _ROOMS
    tried = map(filled, rooms)
    fitting = (answer for answer in tried if len(answer.model_dump_json(by_alias=True)) <= STRUCTURED)
    return next(fitting, None) or filled(smallest)


def shown(fence: Fence, passage: int) -> Show:
    """Recorded text as it appears in fields that a model reads; longer texts of at most `passage` characters."""
    return Show(
        name=lambda text: fence.show(text, _WORDS),
        passage=lambda text: fence.excerpt(text, passage),
        ref=fence.ref,
        said=lambda text: fence.said(text, _NOTE),
        words=lambda text: fence.words(text, _WORDS),
    )


def _state(job: Job) -> JsonObject:
    return {
        "status": job.status,
        "job": job.id,
        "calls": job.calls,
        "planned": max(job.planned, job.calls),
        "seconds_left": None if job.seconds_left is None else round(job.seconds_left),
        "report": _place(job),
    }


def _cut(fields: Mapping[str, Json], most: Mapping[str, int], left_out: Counter[str]) -> JsonObject:
    """The fields with at most so many entries in each list; counts the others."""
    return {name: _cut_value(name, value, most, left_out) for name, value in fields.items()}


def _cut_value(name: str, value: Json, most: Mapping[str, int], left_out: Counter[str]) -> Json:
    match value:
        case dict() if name in {"cause", "source"}:
            return _cut(value, most, left_out)
        case list():
            kept = value[: most.get(name)]
            left_out[name] += len(value) - len(kept)
            return [_cut(item, most, left_out) if isinstance(item, dict) else item for item in kept]
        case _:
            return value


def _elsewhere(job: Job, left_out: Counter[str]) -> str:
    said = [f"{count} more {name}" for name, count in left_out.items() if count and name in _TOLD]
    return f" Not shown here: {', '.join(said)}; read {_place(job)}." if said else ""


_TOLD = frozenset(
    (
        "candidates",
        "causes",
        "counts",
        "forms",
        "instead",
        "not_followed",
        "notes",
        "refs",
        "required",
        "untested",
        "upstream",
    )
)
"""Lists whose missing entries are counted for the reader, in the words of the fields."""


def _place(job: Job) -> str:
    return f"runtape://report/{job.id}"
