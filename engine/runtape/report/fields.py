"""Results as JSON objects: what `--json` prints and what the server's answers are made from.

`Show` decides how recorded text appears: as it stands for programs, fenced for a coding assistant. Everything that
holds text of the trace goes through it; numbers and words of ours do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..stats.rates import wilson
from ..stats.tally import Tally
from ..wire.values import Json, JsonObject
from . import fix_page, rerun_page, why_page
from .chain_page import not_followed
from .distribution import Distribution
from .held import Held
from .ranking import Ranking
from .results import Candidate, Cause, Count, FixReport, Hint, Source, WhyReport
from .step import Spell, Step


def as_recorded(text: str) -> str:
    """The text itself."""
    return text


@dataclass(frozen=True, slots=True)
class Show:
    """How recorded text appears in a field."""

    name: Callable[[str], str] = as_recorded
    """Short texts: what an agent did."""
    passage: Callable[[str], str] = as_recorded
    """Texts of any length: what was read, what a change says."""
    ref: Callable[[str], str] = as_recorded
    """References of pieces; they hold keys of recorded JSON."""
    said: Callable[[str], str] = as_recorded
    """Words of ours that may quote: reasons, notes (`runtape.said`)."""
    words: Callable[[str], str] = as_recorded
    """Words of ours, and the names that whoever asks has given."""


_AS_RECORDED = Show()


def next_step(report: WhyReport | FixReport | Distribution) -> Step:
    """What to do with a result."""
    match report:
        case WhyReport():
            return why_page.next_step(report)
        case FixReport():
            return fix_page.next_step(report)
        case Distribution():
            return rerun_page.next_step(report)


def why_fields(report: WhyReport, show: Show = _AS_RECORDED, spell: Spell | None = None) -> JsonObject:
    """The fields of a `why` answer, for a complete or a partial result."""
    return {
        "status": _status(report.stopped),
        "event": report.event,
        "decision": show.name(report.decision),
        "finding": report.finding.status,
        "base": _count(report.base),
        **_proven(report, show),
        "suspects": [
            {"ref": show.ref(ref), "excerpt": show.passage(text), "probability": round(share, 3)}
            for ref, text, share in report.suspects
        ],
        "shifts": [_hint(hint, show) for hint in report.shifts],
        "against": [_hint(hint, show) for hint in report.against],
        "orders": [_tally(tally) for tally in report.finding.orders],
        "cleared": report.finding.cleared,
        "missed": [{"ratio": ratio, "chance": round(chance, 3)} for ratio, chance in report.missed],
        "kept_only": _maybe(report.finding.kept_only),
        "read_removed": _maybe(report.finding.read_removed),
        "calls": report.calls,
        "reused": report.reused,
        "requests": report.requests,
        "rounds": report.rounds,
        "passes": report.passes,
        "planned": report.planned,
        "seconds_left": None,
        "stopped": report.stopped and show.said(report.stopped),
        "notes": [show.said(note) for note in report.notes],
        "upstream": [_link(link, show) for link in report.upstream],
        "chain_end": show.words(report.ends),
        "next": _next(report, spell),
    }


def fix_fields(report: FixReport, show: Show = _AS_RECORDED, spell: Spell | None = None) -> JsonObject:
    """The fields of a `fix` answer: those that tell the cause are as in `why_fields`."""
    return {
        "status": _status(report.stopped),
        "event": report.event,
        "decision": show.name(report.decision),
        "base": _count(report.base),
        **_proven(report.why, show),
        "candidates": [_candidate(candidate, show) for candidate in report.candidates],
        "best": report.best and show.words(report.best),
        "calls": report.calls,
        "reused": report.reused,
        "requests": report.requests,
        "planned": report.planned,
        "seconds_left": None,
        "stopped": report.stopped and show.said(report.stopped),
        "notes": [show.said(note) for note in report.notes],
        "next": _next(report, spell),
    }


def rerun_fields(seen: Distribution, show: Show = _AS_RECORDED, spell: Spell | None = None) -> JsonObject:
    """The fields of a `rerun` answer; `interval` is the 95% interval of the share that kept the decision, 0-1."""
    tally = seen.tally
    share = wilson(tally.kept, tally.n)
    return {
        "status": _status(seen.stopped),
        "decision": show.name(seen.decision),
        "counts": _actions(seen.actions, show),
        "kept": _tally(tally),
        "interval": [round(share.low, 4), round(share.high, 4)],
        "not_counted": dict[str, Json](tally.void),
        "refused": tally.broken and show.name(tally.broken),
        "asked": seen.asked,
        "calls": seen.calls,
        "reused": seen.reused,
        "planned": max(seen.asked - seen.reused, seen.calls),
        "seconds_left": None,
        "stopped": seen.stopped and show.said(seen.stopped),
        "notes": [show.said(note) for note in seen.notes],
        "next": _next(seen, spell),
    }


def ranking_fields(ranking: Ranking, show: Show = _AS_RECORDED) -> JsonObject:
    """The fields of a ranking without reruns."""
    return {
        "decision": show.name(ranking.decision),
        "event": ranking.event,
        "pieces": [
            {
                "ref": show.ref(piece.ref),
                "excerpt": show.passage(piece.text),
                "score": round(piece.score, 2),
                "event": piece.event,
            }
            for piece in ranking.pieces
        ],
        "untested": _untested(ranking.untested, show),
    }


def _next(report: WhyReport | FixReport | Distribution, spell: Spell | None) -> str:
    step = next_step(report)
    return f"{step.words}." if spell is None or step.verb is None else f"{step.words}: {spell(step)}"


def _status(stopped: str | None) -> str:
    return "stopped" if stopped else "done"


def _proven(report: WhyReport | None, show: Show) -> JsonObject:
    """What was found out about the cause; empty lists while nobody has looked for it."""
    if report is None:
        return {"headline": [], "causes": [], "required": [], "untested": []}
    leading = report.leading
    return {
        "headline": [show.passage(text) for text in report.headline],
        "causes": [_cause(cause, show, report.source if cause is leading else None) for cause in report.causes],
        "required": [_cause(cause, show) for cause in report.required],
        "untested": _untested(report.untested, show),
    }


def _untested(parts: Sequence[tuple[str, str]], show: Show) -> list[Json]:
    return [{"ref": show.ref(ref), "reason": show.words(reason)} for ref, reason in parts]


def _cause(cause: Cause, show: Show, source: Source | None = None) -> JsonObject:
    """`source` is known where somebody asked where the text of the cause came from."""
    return {
        "refs": [show.ref(ref) for ref in cause.refs],
        "kind": cause.kind,
        "excerpt": show.passage("\n".join(cause.texts)),
        "with": _count(cause.with_),
        "without": _count(cause.without),
        "p": cause.p,
        "interval": [round(bound, 4) for bound in cause.interval],
        "ratio": round(cause.ratio, 4),
        "strength": cause.strength,
        "instead": _actions(cause.instead, show),
        "events": list(cause.events),
        "source": None if source is None else _source(source, show),
    }


def _link(link: WhyReport, show: Show) -> JsonObject:
    """One link of a chain: the decision to write the cause of the link before it."""
    leading = link.leading
    return {
        "event": link.event,
        "decision": show.name(link.decision),
        "finding": link.finding.status,
        "base": _count(link.base),
        "cause": None if leading is None else _cause(leading, show, link.source),
        "not_followed": [show.ref(ref) for ref in not_followed(link)],
        "calls": link.calls,
    }


def _source(source: Source, show: Show) -> JsonObject:
    fetch = source.fetch
    return {
        "kind": source.kind,
        "ref": show.ref(source.ref),
        "event": source.event,
        "tool": source.tool and show.name(source.tool),
        "arguments": None if fetch is None or fetch.arguments is None else show.passage(fetch.arguments),
        "asked_in": None if fetch is None else fetch.asked,
    }


def _hint(hint: Hint, show: Show) -> JsonObject:
    return {
        "refs": [show.ref(ref) for ref in hint.refs],
        "excerpt": show.passage("\n".join(hint.texts)),
        "without": _count(hint.without),
    }


def _candidate(candidate: Candidate, show: Show) -> JsonObject:
    return {
        "name": show.words(candidate.name),
        "edit": show.passage(candidate.edit),
        "kept": candidate.kept,
        "n": candidate.n,
        "p": candidate.p,
        "controls": _count(candidate.controls),
        "verdict": candidate.verdict,
        "reason": show.said(candidate.reason),
        "forms": [_form(form) for form in candidate.forms],
        "instead": _actions(candidate.instead, show),
    }


def _form(form: Held) -> JsonObject:
    """`interval` is the 95% interval of the share that is still made with the change, 0-1."""
    share = wilson(*form.count)
    return {
        "form": form.form,
        "outcome": form.outcome,
        **_count(form.count),
        "interval": [round(share.low, 4), round(share.high, 4)],
        "without": _count(form.without),
        "reason": form.reason,
    }


def _actions(actions: Sequence[tuple[str, int]], show: Show) -> list[Json]:
    return [{"action": show.name(action), "n": count} for action, count in actions]


def _count(count: Count) -> JsonObject:
    kept, n = count
    return {"kept": kept, "n": n}


def _maybe(tally: Tally | None) -> JsonObject | None:
    return None if tally is None else _tally(tally)


def _tally(tally: Tally) -> JsonObject:
    return {"kept": tally.kept, "n": tally.n}
