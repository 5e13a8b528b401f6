"""The report of `why`: the answer in one sentence, then what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp

from ..search.finding import Status
from ..stats.exact import fisher_less
from .chain_page import chain_answer, chain_blocks
from .document import Block, Bullets, Document, Heading, Line, Paragraph, Quote, Recorded, Table, told
from .phrases import actions, cost, evidence, it, join, number, of, p_value, run_name
from .places import in_words
from .results import Cause, Hint, WhyReport
from .step import LARGER, Spell, Step, spelled

_NO_CAUSE: dict[Status, str] = {
    "found": "",
    "nothing found": "No part of the context was shown to cause the decision.",
    "nothing read matters": (
        "Nothing that the agent read matters: with all of it removed, the decision is made as before."
        " What is left is the system prompt, the task and the list of tools."
    ),
    "not reproducible": "The decision was not made again, so reruns cannot show its cause.",
    "too rare": "The decision is made too rarely for reruns to show its cause.",
    "not enough reruns": "The reruns were not enough to prove a cause.",
    "stopped": "The search ended before a cause was proven.",
}
RARER = 0.05
"""p below which the proven texts alone are said to make the decision rarer; a few reruns of a rare one say nothing."""
_PAID = "replies in the cache are not paid for twice"
_WORDS = {"add_system": "Your words."}
_UNNAMED = 5
"""Entries of a list that are shown before the rest is only counted."""


def why_page(report: WhyReport, spell: Spell | None = None) -> Document:
    """The report as blocks, in the order in which a reader needs them; what to do next comes last, if it is spelled."""
    return (*_blocks(report), *([Paragraph((spelled(next_step(report), spell),))] if spell else ()))


def answer(report: WhyReport) -> Line:
    """The result in one sentence."""
    if chain := chain_answer(report):
        return chain
    leading = report.leading
    if leading is None and report.finding.unfinished == "running":
        return ("No cause is proven yet; the search goes on.",)
    if leading is None:
        return (_NO_CAUSE[report.finding.status] or _NO_CAUSE["nothing found"],)
    if leading.kind == "order":
        return ("The decision (", Recorded(report.decision), ") depends on the order of the tools.")
    return ("The decision (", Recorded(report.decision), ") depends on ", *_place(leading), ".")


def next_step(report: WhyReport) -> Step:
    """What to do with this result."""
    if report.stopped_by == "budget":
        return Step(f"Go on with a larger budget; {_PAID}", "why", {"budget": LARGER})
    if report.stopped:
        return Step(f"Go on; {_PAID}", "why")
    match report.finding.status:
        case "found" if report.causes and report.causes[0].kind == "order":
            apart = "Put the tools in a fixed order, or tell them apart in their descriptions"
            return Step(f"{apart}. To see what the agent does with the order that was recorded", "rerun")
        case "found":
            return Step("Measure changes against this decision", "fix")
        case "not reproducible":
            return Step("See what the agent does instead, or choose a decision by tool or match", "rerun")
        case "too rare":
            wider = "choose a wider decision by tool or match, or one that recurs"
            return Step(f"See what the agent does, and {wider}", "rerun")
        case "not enough reruns" if report.suspects and report.suspects[0][0].isprintable():
            return Step(f"Look at the likeliest text first; {_PAID}", "why", {"suspects": [report.suspects[0][0]]})
        case "not enough reruns":
            return Step(f"Go on with a larger budget; {_PAID}", "why", {"budget": LARGER})
        case "nothing read matters" if report.finding.orders:
            return Step(
                "Try other words in the system prompt, or tools described apart from each other", "rerun", _WORDS
            )
        case "nothing read matters":
            return Step("Try other words in the system prompt, to see whether the prompt decides", "rerun", _WORDS)
        case _ if report.finding.held:
            return Step("Examine the system prompt and the task too", "why", {"depth": "full"})
        case _:
            several = "several texts may matter together"
            return Step(f"Name a text that you suspect, or look at everything: {several}", "why", {"depth": "full"})


def _blocks(report: WhyReport) -> Iterator[Block]:
    yield Heading(("Why ", Recorded(run_name(report.trace)), f", event {report.event}"), level=1)
    yield Paragraph(answer(report))
    if report.stopped:
        yield Paragraph(("Ended early: ", *told(report.stopped, 400)))
    leading = report.leading
    if report.source is not None:
        yield from chain_blocks(report)
    elif leading is not None:
        for text in leading.texts:
            yield Quote(text)
        meant = it(leading.refs)
        made = evidence(leading.with_, leading.without, leading.interval, leading.p, meant)
        yield Paragraph((f"Made in {made}.",))
        yield Paragraph((f"Without {meant} the agent does instead: ", *actions(leading.instead), "."))
        if warning := _strength(leading):
            yield Paragraph((warning,))
        if line := _kept_only(report):
            yield Paragraph((line,))
    else:
        removed = report.finding.read_removed
        without = f"; with nothing that the agent read, in {of((removed.kept, removed.n))}" if removed else ""
        made = f") was made in {of(report.base)} reruns{without}."
        yield Paragraph(("As recorded, the decision (", Recorded(report.decision), made))
    if report.shifts:
        yield Heading(("Largest shifts seen, none of them proven",))
        yield Bullets(tuple(_hint_line(hint) for hint in report.shifts))
    others = [cause for cause in report.causes if cause is not leading]
    if others:
        yield Heading(("What else the decision needs",))
        yield Table(
            ("piece", "kind", "with it", "without it", "p", "instead", "text"), tuple(_row(cause) for cause in others)
        )
    if report.suspects:
        yield Heading(("Suspected, not proven",))
        likely = report.suspects[:_UNNAMED]
        lines = tuple((f"{share:.0%}: ", Recorded(ref), ": ", Recorded(text)) for ref, text, share in likely)
        yield Bullets(lines + _more(len(report.suspects)))
    if report.against:
        yield Heading(("Without it the decision was made more often (seen, not proven)",))
        yield Bullets(tuple(_hint_line(hint) for hint in report.against))
    if report.untested:
        yield Heading(("Not examined",))
        grouped = _by_reason(report.untested)
        yield Bullets(tuple((*_refs(refs[:_UNNAMED]), *_others(refs), f": {reason}") for reason, refs in grouped))
    yield from _coverage(report)


def _coverage(report: WhyReport) -> Iterator[Block]:
    yield Heading(("How it was found",))
    finding = report.finding
    lines: list[Line] = [(cost(report.calls, report.reused, report.requests),)]
    if report.rounds:
        lines.append((f"{number(report.rounds, 'round')} of reruns, one after another.",))
    if finding.cleared:
        noun = "other piece" if report.causes else "piece"
        cleared = f"{number(finding.cleared, noun)} could be left out without effect."
        lines.append((f"{cleared}{_missed(report)}",))
    if finding.orders:
        tried = ", ".join(of((tally.kept, tally.n)) for tally in finding.orders)
        lines.append((f"With the tools in another order the decision was made in {tried} reruns.",))
    notes = dict.fromkeys(note for link in (report, *report.upstream) for note in link.notes)
    lines += [told(note, 400) for note in notes]
    yield Bullets(tuple(lines))


def _missed(report: WhyReport) -> str:
    """The chance of having missed a cause, overall and by how much of the rate it leaves."""
    overall = f" Chance that a needed text is not listed here: about {1 - exp(-report.finding.missed):.0%}"
    if not report.missed:
        return f"{overall}."
    chances = " / ".join(f"{chance:.0%}" for _, chance in report.missed)
    ratios = " / ".join(f"{ratio:.0%}" for ratio, _ in report.missed)
    return f"{overall}; {chances} if the decision were still made at {ratios} of its rate without it."


def _hint_line(hint: Hint) -> Line:
    """What was left out, and how often the decision was made without it."""
    if len(hint.refs) > _UNNAMED:
        return (f"{len(hint.refs)} pieces from ", Recorded(hint.refs[0]), f" on: {of(hint.without)} without them")
    return (
        *_refs(hint.refs),
        f": {of(hint.without)} without {it(hint.refs)}: ",
        Recorded(" / ".join(hint.texts), limit=80),
    )


def _strength(cause: Cause) -> str:
    """A word of warning for a cause that leaves much of the rate."""
    if cause.strength != "weak":
        return ""
    return "It weakens the decision rather than causing it alone; searches find only some texts of this strength."


def _place(cause: Cause) -> Line:
    if len(cause.texts) > 1:
        number_of = f"these {len(cause.texts)} texts"
        which = f"{number_of}, each of which is enough" if cause.kind == "redundant" else f"{number_of} together"
        tools = sorted({tool for tool in cause.tools if tool})
        sources: Line = (" from ", *join([(Recorded(tool),) for tool in tools], ", ")) if tools else ()
        return (which, " (", *_refs(cause.refs), *sources, ")")
    event, tool = cause.events[0], cause.tools[0]
    source: Line = ("this text, which ", Recorded(tool), " returned") if tool else ("this text",)
    if cause.places:
        source = in_words(cause.places[0])
    return (*source, " (", *(() if event is None else (f"event {event}, ",)), "piece ", *_refs(cause.refs), ")")


def _refs(refs: list[str]) -> Line:
    return join([(Recorded(ref),) for ref in refs], ", ")


def _kept_only(report: WhyReport) -> str:
    kept = report.finding.kept_only
    if kept is None or not kept.n:
        return ""
    base = report.finding.base
    only = "With nothing but the proven texts, the system prompt and the task, the decision is made in"
    said = f"{only} {of((kept.kept, kept.n))} reruns"
    rarer = fisher_less(kept.kept, kept.n, base.kept, base.n) <= RARER
    return f"{said}, rarer than as recorded: other parts may matter too." if rarer else f"{said}."


def _row(cause: Cause) -> tuple[Line, ...]:
    return (
        (Recorded(", ".join(cause.refs)),),
        (f"{cause.kind}, weak" if cause.strength == "weak" else cause.kind,),
        (of(cause.with_),),
        (of(cause.without),),
        (p_value(cause.p),),
        actions(cause.instead),
        (Recorded(" / ".join(cause.texts), limit=60),),
    )


def _by_reason(untested: list[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    found: dict[str, list[str]] = {}
    for ref, reason in untested:
        found.setdefault(reason, []).append(ref)
    return list(found.items())


def _others(refs: list[str]) -> Line:
    return (f" and {len(refs) - _UNNAMED} more",) if len(refs) > _UNNAMED else ()


def _more(total: int) -> tuple[Line, ...]:
    return ((f"and {total - _UNNAMED} more",),) if total > _UNNAMED else ()
