"""Results as JSON objects: what `--json` prints and what the server answers.

`show` decides how recorded text appears: as it stands for programs, fenced for a coding assistant. Everything that
holds text of the trace goes through it; numbers and words of ours do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ..stats.rates import wilson
from ..stats.tally import Tally
from ..wire.values import Json, JsonObject
from . import fix_page, why_page
from .distribution import Distribution
from .results import Candidate, Cause, Count, FixReport, Ranking, WhyReport

Show: TypeAlias = Callable[[str], str]


def as_recorded(text: str) -> str:
    """The text itself."""
    return text


def why_fields(
    report: WhyReport, show: Show = as_recorded, *, status: str | None = None, seconds_left: float | None = None
) -> JsonObject:
    """The fields of a `why` answer.

    Args:
        report: The result, complete or partial.
        show: How recorded text appears.
        status: The state of the job where there is one; otherwise `done` or `stopped`.
        seconds_left: Estimate for a running job; None when there is none.
    """
    return {
        "status": status or ("stopped" if report.stopped else "done"),
        "event": report.event,
        "decision": show(report.decision),
        "finding": report.finding.status,
        "base": _count(report.base),
        "headline": [show(text) for text in report.headline],
        "causes": [_cause(cause, show) for cause in report.causes],
        "required": [_cause(cause, show) for cause in report.required],
        "suspects": [
            {"ref": ref, "excerpt": show(text), "probability": round(share, 3)} for ref, text, share in report.suspects
        ],
        "untested": [{"ref": ref, "reason": reason} for ref, reason in report.untested],
        "calls": report.calls,
        "reused": report.reused,
        "requests": report.requests,
        "rounds": report.rounds,
        "planned": report.planned,
        "seconds_left": seconds_left,
        "stopped": report.stopped and show(report.stopped),
        "notes": [show(note) for note in report.notes],
        "upstream": [why_fields(above, show) for above in report.upstream],
        "next": why_page.next_step(report),
    }


def fix_fields(
    report: FixReport,
    show: Show = as_recorded,
    *,
    status: str | None = None,
    seconds_left: float | None = None,
) -> JsonObject:
    """The fields of a `fix` answer; the arguments are those of `why_fields`."""
    return {
        "status": status or ("stopped" if report.stopped else "done"),
        "event": report.event,
        "decision": show(report.decision),
        "base": _count(report.base),
        "candidates": [_candidate(candidate, show) for candidate in report.candidates],
        "best": report.best and show(report.best),
        "calls": report.calls,
        "reused": report.reused,
        "requests": report.requests,
        "planned": report.planned,
        "seconds_left": seconds_left,
        "stopped": report.stopped and show(report.stopped),
        "notes": [show(note) for note in report.notes],
        "next": fix_page.next_step(report),
    }


def rerun_fields(seen: Distribution, show: Show = as_recorded) -> JsonObject:
    """The fields of a `rerun` answer; `interval` is the 95% interval of the share that kept the decision, 0-1."""
    tally = seen.tally
    share = wilson(tally.kept, tally.n)
    return {
        "decision": show(seen.decision),
        "counts": _actions(seen.actions, show),
        "kept": _tally(tally),
        "interval": [round(share.low, 4), round(share.high, 4)],
        "not_counted": dict[str, Json](tally.void),
        "refused": tally.broken and show(tally.broken),
        "asked": seen.asked,
        "calls": seen.calls,
        "reused": seen.reused,
        "stopped": seen.stopped and show(seen.stopped),
        "notes": [show(note) for note in seen.notes],
        "next": "Run why on this event to find the text that the decision depends on.",
    }


def ranking_fields(ranking: Ranking, show: Show = as_recorded) -> JsonObject:
    """The fields of a ranking without reruns."""
    return {
        "decision": show(ranking.decision),
        "event": ranking.event,
        "pieces": [
            {"ref": piece.ref, "excerpt": show(piece.text), "score": round(piece.score, 2), "event": piece.event}
            for piece in ranking.pieces
        ],
        "untested": [{"ref": ref, "reason": reason} for ref, reason in ranking.untested],
    }


def _cause(cause: Cause, show: Show) -> JsonObject:
    return {
        "refs": list(cause.refs),
        "kind": cause.kind,
        "excerpt": show("\n".join(cause.texts)),
        "with": _count(cause.with_),
        "without": _count(cause.without),
        "p": cause.p,
        "interval": [round(bound, 4) for bound in cause.interval],
        "instead": _actions(cause.instead, show),
        "events": list(cause.events),
    }


def _candidate(candidate: Candidate, show: Show) -> JsonObject:
    return {
        "name": show(candidate.name),
        "edit": show(candidate.edit),
        "kept": candidate.kept,
        "n": candidate.n,
        "p": candidate.p,
        "controls": _count(candidate.controls),
        "verdict": candidate.verdict,
        "reason": show(candidate.reason),
        "instead": _actions(candidate.instead, show),
    }


def _actions(actions: Sequence[tuple[str, int]], show: Show) -> list[Json]:
    return [{"action": show(action), "n": count} for action, count in actions]


def _count(count: Count) -> JsonObject:
    kept, n = count
    return {"kept": kept, "n": n}


def _tally(tally: Tally) -> JsonObject:
    return {"kept": tally.kept, "n": tally.n}
