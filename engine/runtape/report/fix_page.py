"""The report of `fix`: which changes hold, and what they cost elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..stats.rates import wilson
from . import why_page
from .document import Block, Bullets, Document, Heading, Line, Paragraph, Quote, Recorded, Table, told
from .held import Held, holds_in, together
from .phrases import actions, cost, of, of_at_least, of_at_most, p_value, run_name
from .results import Candidate, FixReport
from .step import LARGER, Spell, Step, spelled

_EDIT = 300
"""Characters of a change that is not the best one."""


def fix_page(report: FixReport, spell: Spell | None = None) -> Document:
    """The report as blocks: the best fix, the table, the reasons, the cost; what to do next, if it is spelled."""
    return (*_blocks(report), *([Paragraph((spelled(next_step(report), spell),))] if spell else ()))


def next_step(report: FixReport) -> Step:
    """What to do with this result."""
    if report.stopped_by == "budget":
        return Step(
            "Go on with a larger budget; replies in the cache are not paid for twice", "fix", {"budget": LARGER}
        )
    if report.stopped:
        return Step("Go on; replies in the cache are not paid for twice", "fix")
    if is_guard(report, report.best):
        return Step("Put this check into the agent's own code, and test that code: no rerun can hold on to it")
    if report.best:
        kept = {"out": "tests/test_regression.py", "fix": report.best}
        return Step("Put the change into the agent, and write a test that fails when it is lost", "write_test", kept)
    own = {"candidates": [{"name": "mine", "add_system": "Your rule."}]}
    return Step("Propose a change of your own; what was measured is not paid for twice", "fix", own)


def is_guard(report: FixReport, name: str | None) -> bool:
    """Whether this candidate is a check outside the model: it changes nothing that is sent."""
    return any(candidate.name == name and not candidate.edits for candidate in report.candidates)


def _blocks(report: FixReport) -> Iterator[Block]:
    yield Heading(("Fixes for ", Recorded(run_name(report.trace)), f", event {report.event}"), level=1)
    if report.why is not None:
        yield Paragraph(why_page.answer(report.why))
        if leading := report.why.leading:
            for text in leading.texts:
                yield Quote(text)
    best = next((candidate for candidate in report.candidates if candidate.name == report.best), None)
    if best is None:
        found = "No measured change removes" if report.candidates else "No change was measured yet that removes"
        yield Paragraph((f"{found} the decision (", Recorded(report.decision), ")."))
    else:
        at_most = f"at most {wilson(best.kept, best.n).high:.0%}"
        made = f") is made in {of((best.kept, best.n))} reruns ({at_most}); as recorded, in {of(report.base)}."
        yield Paragraph(("With ", Recorded(best.name), " the decision (", Recorded(report.decision), made))
        yield Quote(best.edit)
    if report.stopped:
        yield Paragraph(("Ended early: ", *told(report.stopped, 400)))
    if report.candidates:
        columns = (
            "verdict",
            "change",
            "still made",
            "p",
            "other decisions kept",
            "other forms",
            "what the agent does instead",
        )
        yield Table(columns, tuple(_row(candidate) for candidate in report.candidates))
    others: tuple[Line, ...] = tuple(
        (Recorded(candidate.name), ": ", Recorded(candidate.edit, _EDIT))
        for candidate in report.candidates
        if candidate is not best
    )
    if others:
        yield Heading(("What the other changes say" if best else "What the changes say",))
        yield Bullets(others)
    reasons: tuple[Line, ...] = tuple(
        (Recorded(candidate.name), ": ", *told(candidate.reason, 400))
        for candidate in report.candidates
        if candidate.reason and candidate.verdict != "PASS"
    )
    if reasons:
        passed = any(candidate.verdict == "PASS" for candidate in report.candidates)
        yield Heading(("Why the others did not pass" if passed else "Why not",))
        yield Bullets(reasons)
    widened = [candidate for candidate in report.candidates if candidate.forms]
    if widened:
        yield Heading(("With the cause in other places and words",))
        rows = tuple(_form(candidate, form) for candidate in widened for form in candidate.forms)
        yield Table(("", "change", "the cause", "still made", "without the change", "why"), rows)
    yield Heading(("How it was measured",))
    lines: list[Line] = [(cost(report.calls, report.reused, report.requests),)]
    lines += [
        (Recorded(candidate.name), ": ", *told(candidate.reason, 400))
        for candidate in report.candidates
        if candidate.reason and candidate.verdict == "PASS"
    ]
    lines += [_together(candidate) for candidate in widened if candidate.verdict == "PASS"]
    lines += [told(note, 400) for note in report.notes]
    yield Bullets(tuple(lines))


def _row(candidate: Candidate) -> tuple[Line, ...]:
    return (
        (candidate.verdict,),
        (Recorded(candidate.name, limit=40),),
        (of_at_most((candidate.kept, candidate.n)),),
        # A guard is no edit: it sorts the replies of the recorded context, so no chance is involved.
        (p_value(candidate.p) if candidate.edits else "-",),
        (of_at_least(candidate.controls) if candidate.controls[1] else "not measured",),
        (_holds(candidate.forms),),
        actions(candidate.instead),
    )


def _holds(forms: Sequence[Held]) -> str:
    held, measured = holds_in(forms)
    return f"holds in {of((held, measured))}" if measured else "not measured"


def _form(candidate: Candidate, form: Held) -> tuple[Line, ...]:
    return (
        (form.outcome,),
        (Recorded(candidate.name, limit=40),),
        (form.form,),
        (of_at_most(form.count) if form.count[1] else "-",),
        (of(form.without) if form.without[1] else "-",),
        (form.reason,),
    )


def _together(candidate: Candidate) -> Line:
    """What passing in the other forms rests on."""
    held, measured = holds_in(candidate.forms)
    if not measured:
        return (Recorded(candidate.name), ": measured in no other form of the cause.")
    reruns = of_at_most(together(candidate.forms))
    return (Recorded(candidate.name), f": holds in {of((held, measured))} other forms of the cause: made in {reruns}.")
