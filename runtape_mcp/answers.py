"""Jobs as answers: the same facts as structured content for models, and as prose for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypedDict, TypeVar

from mcp.types import CallToolResult, TextContent

from runtape.report.results import Candidate, Cause, Distribution, FixReport, WhyReport

from .fence import Fence
from .jobs import Job, Status
from .schemas import (
    Action,
    Answer,
    CandidateRow,
    CauseRow,
    Count,
    FixAnswer,
    RerunAnswer,
    Untested,
    WhyAnswer,
)

STRUCTURED = 5200
"""Characters of structured content; with the prose under 8,000."""
_ACTIONS, _UNTESTED, _REASON = 3, 6, 120

A = TypeVar("A", bound=Answer)


@dataclass(frozen=True, slots=True)
class Room:
    """How much recorded text an answer shows."""

    rows: int
    """Causes or candidates."""
    excerpt: int
    """Characters of each."""


_ROOMS = (Room(8, 400), Room(8, 160), Room(5, 120), Room(3, 80), Room(1, 40))
"""Tried in this order until the answer fits."""


class _JobFields(TypedDict):
    status: Status
    job: str
    calls: int
    planned: int
    seconds_left: int | None
    next: str


class _WhyFields(TypedDict):
    decision: str
    base: Count
    causes: list[CauseRow]
    required: list[CauseRow]
    untested: list[Untested]
    report: str


def why_answer(job: Job, fence: Fence, next_step: str) -> WhyAnswer:
    """The answer of `why`: what is proven so far."""
    report = job.report if isinstance(job.report, WhyReport) else None
    return _fitting(lambda room: WhyAnswer(**_job(job, next_step), **_why(job, report, fence, room)))


def fix_answer(job: Job, fence: Fence, next_step: str) -> FixAnswer:
    """The answer of `fix`: the candidates measured so far, and the causes while those are looked for."""

    def build(room: Room) -> FixAnswer:
        fields = _why(job, job.why, fence, room)
        report = job.report if isinstance(job.report, FixReport) else None
        if report is not None:
            fields["decision"] = fence.show(report.decision)
            fields["base"] = _count(report.base)
        measured = report.candidates if report is not None else []
        rows = [_candidate(candidate, fence, room.excerpt) for candidate in measured[: max(room.rows, 4)]]
        best = report.best if report is not None else None
        return FixAnswer(**_job(job, next_step), **fields, candidates=rows, best=best and fence.words(best, 60))

    return _fitting(build)


def rerun_answer(job: Job, fence: Fence, next_step: str) -> RerunAnswer:
    """The answer of `rerun`: what the agent does, how often."""
    # The interval needs the statistics, which are loaded by the time there is a result.
    from runtape.stats.rates import wilson

    seen = job.report if isinstance(job.report, Distribution) else None
    kept = (seen.tally.kept, seen.tally.n) if seen is not None else (0, 0)
    rate = wilson(*kept)
    return _fitting(
        lambda room: RerunAnswer(
            **_job(job, next_step),
            decision=fence.show(seen.decision) if seen is not None else "",
            counts=_actions(seen.actions if seen is not None else [], fence, room.rows),
            kept=_count(kept),
            interval=[round(rate.low, 4), round(rate.high, 4)],
        )
    )


def result(answer: Answer, prose: str) -> CallToolResult:
    """A tool's result in both forms."""
    return CallToolResult(
        content=[TextContent(type="text", text=prose)], structured_content=answer.model_dump(by_alias=True, mode="json")
    )


def _job(job: Job, next_step: str) -> _JobFields:
    return {
        "status": job.status,
        "job": job.id,
        "calls": job.calls,
        "planned": max(job.planned, job.calls),
        "seconds_left": None if job.seconds_left is None else round(job.seconds_left),
        "next": next_step,
    }


def _why(job: Job, report: WhyReport | None, fence: Fence, room: Room) -> _WhyFields:
    causes = report.causes if report is not None else []
    required = report.required if report is not None else []
    untested = report.untested if report is not None else []
    return {
        "decision": fence.show(report.decision) if report is not None else "",
        "base": _count(report.base if report is not None else (0, 0)),
        "causes": [_cause(cause, fence, room.excerpt) for cause in causes[: room.rows]],
        "required": [_cause(cause, fence, room.excerpt // 2) for cause in required[: room.rows // 2]],
        "untested": [
            Untested(ref=fence.show(ref), reason=fence.words(reason, _REASON)) for ref, reason in untested[:_UNTESTED]
        ],
        "report": f"runtape://report/{job.id}",
    }


def _cause(cause: Cause, fence: Fence, excerpt: int) -> CauseRow:
    return CauseRow(
        refs=[fence.show(ref) for ref in cause.refs[:8]],
        kind=cause.kind,
        excerpt=fence.excerpt("\n".join(cause.texts), excerpt),
        events=cause.events[:8],
        with_=_count(cause.with_),
        without=_count(cause.without),
        p=float(f"{cause.p:.3g}"),
        instead=_actions(cause.instead, fence, _ACTIONS),
    )


def _candidate(candidate: Candidate, fence: Fence, excerpt: int) -> CandidateRow:
    return CandidateRow(
        name=fence.words(candidate.name, 60),
        edit=fence.excerpt(candidate.edit, excerpt),
        kept=candidate.kept,
        n=candidate.n,
        p=float(f"{candidate.p:.3g}"),
        controls=_count(candidate.controls),
        verdict=candidate.verdict,
        reason=fence.words(candidate.reason, _REASON),
        instead=_actions(candidate.instead, fence, _ACTIONS),
    )


def _actions(actions: Sequence[tuple[str, int]], fence: Fence, most: int) -> list[Action]:
    return [Action(action=fence.show(action), n=n) for action, n in actions[:most]]


def _count(count: tuple[int, int]) -> Count:
    kept, n = count
    return Count(kept=kept, n=n)


def _fitting(build: Callable[[Room], A]) -> A:
    tried = map(build, _ROOMS)
    answer = next(tried)
    while len(answer.model_dump_json(by_alias=True)) > STRUCTURED:
        smaller = next(tried, None)
        if smaller is None:
            break
        answer = smaller
    return answer
