"""The report of `fix`: which changes hold, and what they cost elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .document import Block, Bullets, Document, Heading, Line, Paragraph, Quote, Recorded, Table
from .phrases import actions, cost, of, p_value
from .results import Candidate, FixReport


def fix_page(report: FixReport) -> Document:
    """The report as blocks: the best fix, the table, the reasons, the cost."""
    return tuple(_blocks(report))


def next_step(report: FixReport) -> str:
    """What to do with this result, naming verbs, not the way a front end spells them."""
    if report.stopped_by == "budget":
        return "Run fix again with a larger budget to go on; nothing is paid for twice."
    if report.stopped:
        return "Run fix again with the same arguments to go on; nothing is paid for twice."
    if report.best:
        return "Write a test with this fix, and put the change into the agent."
    return "Propose a change of your own as a candidate and run fix again; what was measured is not paid for twice."


def _blocks(report: FixReport) -> Iterator[Block]:
    yield Heading(("Fixes for ", Recorded(Path(report.trace).name), f", event {report.event}"), level=1)
    best = next((candidate for candidate in report.candidates if candidate.name == report.best), None)
    if best is None:
        yield Paragraph(("No measured change removes the decision (", Recorded(report.decision), ")."))
    else:
        yield Paragraph(
            (
                "With ",
                Recorded(best.name),
                " the decision (",
                Recorded(report.decision),
                f") is made in {of((best.kept, best.n))} reruns; as recorded, in {of(report.base)}.",
            )
        )
        yield Quote(best.edit)
    if report.candidates:
        columns = ("verdict", "change", "still made", "p", "other decisions kept", "what the agent does instead")
        yield Table(columns, tuple(_row(candidate) for candidate in report.candidates))
    reasons: tuple[Line, ...] = tuple(
        (Recorded(candidate.name), ": ", Recorded(candidate.reason, limit=400))
        for candidate in report.candidates
        if candidate.reason
    )
    if reasons:
        yield Heading(("Why the others are no fix",))
        yield Bullets(reasons)
    yield Heading(("How it was measured",))
    lines: list[Line] = [(cost(report.calls, report.reused, report.requests),)]
    lines += [(Recorded(note, limit=400),) for note in report.notes]
    if report.stopped:
        lines.append(("Ended early: ", Recorded(report.stopped, limit=400)))
    yield Bullets(tuple(lines))
    yield Paragraph((next_step(report),))


def _row(candidate: Candidate) -> tuple[Line, ...]:
    return (
        (candidate.verdict,),
        (Recorded(candidate.name, limit=40),),
        (of((candidate.kept, candidate.n)),),
        (p_value(candidate.p),),
        (of(candidate.controls) if candidate.controls[1] else "not measured",),
        actions(candidate.instead),
    )
