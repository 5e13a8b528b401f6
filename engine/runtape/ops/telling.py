"""A finding about leaf numbers as a report in the words of the trace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..context.pieces import Context, Piece
from ..report.places import Place
from ..report.ranking import Ranked, Ranking
from ..report.results import Cause, Hint, StoppedBy, WhyReport
from ..said import Said
from ..search.finding import Claim, Finding, Shift
from ..stats.tally import Tally
from .case import Case
from .spent import Spent

_HELD = "kept in place: a quick search examines the system prompt, task and tools only when nothing else explains it"


def why_report(
    case: Case,
    finding: Finding,
    spent: Spent,
    *,
    notes: Sequence[str] = (),
    stopped: str | None = None,
    stopped_by: StoppedBy | None = None,
    passes: int = 0,
) -> WhyReport:
    """The report of a search, finished or not.

    Args:
        case: The decision that was examined.
        finding: What the search has found.
        spent: What it cost.
        notes: What the reader has to know about this run.
        stopped: Why the search ended early and what to do; None when it did not.
        stopped_by: What ended it early.
        passes: Contexts that were read by the chance of the decision.
    """
    causes = [_cause(case, claim) for claim in finding.claims]
    pieces = [case.context.pieces[leaf] for leaf in case.context.leaves]
    return WhyReport(
        trace=str(case.trace.path),
        event=case.moment.response.id,
        decision=case.decision.label,
        base=(finding.base.kept, finding.base.n),
        headline=causes[0].texts if causes else [],
        causes=causes,
        required=[cause for cause in causes if cause.kind == "required"],
        # A leaf that was kept in place is likely by its place alone; it is listed as not examined.
        suspects=[
            (pieces[at.leaf].ref, pieces[at.leaf].text, at.probability)
            for at in finding.suspects
            if at.leaf not in finding.held
        ],
        untested=_untested(case, finding),
        calls=spent.calls,
        reused=spent.reused,
        requests=spent.requests,
        rounds=finding.rounds,
        planned=finding.planned + passes,
        passes=passes,
        stopped=stopped,
        finding=finding,
        pieces=[(piece.ref, state) for piece, state in zip(pieces, _states(finding, len(pieces)), strict=True)],
        notes=[*notes, *_void(finding.base), *_restarts(finding)],
        stopped_by=stopped_by,
        shifts=[_hint(pieces, shift) for shift in finding.shifts],
        against=[_hint(pieces, shift) for shift in finding.against],
    )


def ranking(case: Case, scores: Sequence[float]) -> Ranking:
    """The leaves of a context by suspicion, highest first; equal ones in context order."""
    pieces = [case.context.pieces[leaf] for leaf in case.context.leaves]
    ranked = [
        Ranked(piece.ref, piece.text, score, piece.event, piece.tool if piece.role == "tool_result" else None)
        for piece, score in zip(pieces, scores, strict=True)
    ]
    return Ranking(
        trace=str(case.trace.path),
        event=case.moment.response.id,
        decision=case.decision.label,
        pieces=sorted(ranked, key=lambda piece: -piece.score),
        untested=[(part.ref, part.reason) for part in case.context.not_examined],
    )


def _hint(pieces: Sequence[Piece], shift: Shift) -> Hint:
    shown = [pieces[leaf] for leaf in shift.leaves]
    return Hint([piece.ref for piece in shown], [piece.text for piece in shown], (shift.without.kept, shift.without.n))


def _cause(case: Case, claim: Claim) -> Cause:
    parts = [_part(case.context, leaf) for leaf in claim.leaves]
    return Cause(
        refs=[part.ref for part in parts],
        texts=[part.text for part in parts],
        kind=claim.kind,
        with_=(claim.base.kept, claim.base.n),
        without=(claim.without.kept, claim.without.n),
        p=claim.p,
        interval=(claim.low, claim.high),
        instead=list(claim.without.instead),
        events=[part.event for part in parts],
        tools=[part.tool for part in parts],
        places=[part.place for part in parts],
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """What a number of the search stands for."""

    ref: str
    text: str
    event: int | None
    tool: str | None
    place: Place


def _part(context: Context, leaf: int) -> _Part:
    if leaf >= len(context.leaves):
        order = context.tool_order
        return _Part(order.ref, "\n".join(order.names), order.event, None, Place("tool_order"))
    piece = context.pieces[context.leaves[leaf]]
    returned = piece.tool if piece.role == "tool_result" else None
    place = Place(piece.role, piece.tool, piece.parameter, context.slots[piece.slot].form != "text")
    return _Part(piece.ref, piece.text, piece.event, returned, place)


def _untested(case: Case, finding: Finding) -> list[tuple[str, str]]:
    held = [(ref, _HELD) for ref in _covering(case.context, finding.held)]
    return [*held, *((part.ref, part.reason) for part in case.context.not_examined)]


def _covering(context: Context, leaves: Iterable[int]) -> list[str]:
    """References of the fewest pieces that cover some leaves, given by position, and nothing else."""
    pieces = context.pieces
    covered = {context.leaves[leaf] for leaf in leaves}
    # A piece stands before its children, so going backwards meets the children first.
    for index in range(len(pieces) - 1, -1, -1):
        if pieces[index].children and covered.issuperset(pieces[index].children):
            covered.add(index)
    return [pieces[index].ref for index in sorted(covered) if pieces[index].parent not in covered]


def _states(finding: Finding, leaves: int) -> list[str]:
    states = ["untried"] * leaves
    for leaf in finding.cleared_leaves:
        states[leaf] = "cleared"
    for suspect in finding.suspects:
        states[suspect.leaf] = "suspected"
    for leaf in finding.held:
        states[leaf] = "held"
    for claim in finding.claims:
        for leaf in claim.leaves:
            if claim.kind != "order":
                states[leaf] = "proven"
    return states


def _restarts(finding: Finding) -> list[Said]:
    if not finding.restarts:
        return []
    times = "once" if finding.restarts == 1 else f"{finding.restarts} times"
    changed = f"The model behind the server changed {times} during the search"
    return [Said(f"{changed}: the reruns as recorded were begun anew, and what was under test then was tested again.")]


def _void(base: Tally) -> list[str]:
    if not base.void:
        return []
    kinds = ", ".join(f"{count} {kind}" for kind, count in base.void)
    return [Said(f"Of the reruns as recorded, these answers do not count: {kinds}.")]
