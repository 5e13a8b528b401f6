"""What a report knows stands in each of its forms: text, Markdown, HTML and JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from report_samples import CAUSE, fix_report, why_report

from runtape.report.document import Document
from runtape.report.fields import fix_fields, why_fields
from runtape.report.fix_page import fix_page
from runtape.report.html import to_html
from runtape.report.markdown import to_markdown
from runtape.report.results import Candidate, Cause, FixReport, Hint, WhyReport
from runtape.report.text import to_text
from runtape.report.why_page import why_page
from runtape.search.finding import Finding
from runtape.stats.tally import Tally


class Plain:
    """Recorded text as it is."""

    def show(self, text: str, limit: int) -> str:
        return text[:limit]

    def block(self, text: str, limit: int) -> str:
        return text[:limit]


def forms(page: Document) -> dict[str, str]:
    html = " ".join(to_html(page))
    told = {
        "text": to_text(page),
        "markdown": "\n".join(to_markdown(page, Plain())).replace("\\|", "|"),
        "html": unescape(re.sub("<.*?>", " ", html)),
    }
    return {name: " ".join(form.split()) for name, form in told.items()}


def says(form: str, fact: str) -> bool:
    """Whether a fact stands there, markup and white space between its parts aside."""
    return re.sub(r"\s+", "", fact) in re.sub(r"\s+", "", form)


counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
names = st.integers(0, 9999).map(lambda number: f"calls tool_{number}")
actions = st.lists(st.tuples(names, st.integers(1, 30)), max_size=3, unique_by=lambda action: action[0])


@st.composite
def causes(draw: st.DrawFn) -> list[Cause]:
    found: list[Cause] = []
    for number in range(draw(st.integers(0, 3))):
        several = draw(st.integers(1, 3))
        kinds = st.sampled_from(("redundant", "together") if several > 1 else ("decisive", "required"))
        found.append(
            replace(
                CAUSE,
                refs=[f"{number}[{at}]/s{at}" for at in range(several)],
                texts=[f"Text {number} of {at}." for at in range(several)],
                kind=draw(kinds),
                with_=draw(counts),
                without=draw(counts),
                p=draw(st.floats(1e-9, 1)),
                instead=draw(actions),
                events=[number] * several,
                tools=[draw(st.sampled_from(("read_email", None)))] * several,
            )
        )
    return found


@st.composite
def reports(draw: st.DrawFn) -> WhyReport:
    found = draw(causes())
    base = draw(counts)
    statuses = ("nothing found", "nothing read matters", "not reproducible", "too rare", "not enough reruns", "stopped")
    finding = Finding(
        "found" if found else draw(st.sampled_from(statuses)),
        Tally(*base),
        cleared=draw(st.integers(0, 99)),
        missed=0.04,
        kept_only=Tally(*draw(counts)) if found else None,
        read_removed=None if found else Tally(*draw(counts)),
        orders=tuple(Tally(*draw(counts)) for _ in range(draw(st.integers(0, 2)))),
    )
    stopped = draw(st.sampled_from((None, "cancelled", "budget", "model")))
    return why_report(
        base=base,
        finding=finding,
        headline=found[0].texts if found else [],
        causes=found,
        required=[cause for cause in found if cause.kind == "required"],
        suspects=[(f"5[5]/s{at}", f"Suspect {at}.", 0.25) for at in range(draw(st.integers(0, 5)))],
        untested=[(f"6[6]/s{at}", draw(st.sampled_from(("an image", "kept in place")))) for at in range(3)],
        shifts=[] if found else [Hint(["7[7]/s1"], ["A shift."], draw(counts))],
        against=[Hint(["8[8]/s1"], ["Against it."], draw(counts))],
        calls=draw(st.integers(1, 999)),
        reused=draw(st.integers(1, 999)),
        requests=draw(st.integers(1, 999)),
        rounds=draw(st.integers(1, 20)),
        stopped=None if stopped is None else f"It ended by {stopped}.",
        stopped_by=stopped,
        notes=[f"note {at}" for at in range(draw(st.integers(0, 3)))],
    )


def told_in(count: tuple[int, int]) -> str:
    return f"{count[0]} of {count[1]}"


def facts(report: WhyReport) -> list[str]:
    """In words of the page."""
    found = [report.decision, f"{report.calls} model call", f"{report.reused} answer", f"{report.requests} request"]
    for cause in report.causes:
        found += [*cause.refs, *cause.texts, told_in(cause.with_), told_in(cause.without)]
        found += [f"{action} ({count})" for action, count in cause.instead]
        found.append(f"{cause.p:.2g}" if cause.p >= 0.0001 else "under 0.0001")
    for ref, text, _ in report.suspects:
        found += [ref, text, "25%"]
    for ref, reason in report.untested:
        found += [ref, reason]
    for hint in (*report.shifts, *report.against):
        found += [*hint.refs, *hint.texts, told_in(hint.without)]
    finding = report.finding
    tallies = [*finding.orders, *([finding.read_removed] if finding.read_removed else [])]
    found += [told_in((tally.kept, tally.n)) for tally in tallies]
    if finding.kept_only:
        found.append(told_in((finding.kept_only.kept, finding.kept_only.n)))
    if finding.cleared:
        found.append(f"{finding.cleared} {'other ' if report.causes else ''}piece")
    return [*found, *report.notes, *([report.stopped] if report.stopped else [])]


def numbers_in(value: Any) -> list[tuple[int, int]]:
    """Every count of a JSON object."""
    match value:
        case dict():
            own = [(value["kept"], value["n"])] if {"kept", "n"} <= value.keys() else []
            return [*own, *(count for item in value.values() for count in numbers_in(item))]
        case list():
            return [count for item in value for count in numbers_in(item)]
        case _:
            return []


@settings(max_examples=60)
@given(reports())
def test_every_form_of_why_holds_every_fact(report: WhyReport) -> None:
    for name, form in forms(why_page(report)).items():
        for fact in facts(report):
            assert says(form, fact), f"{name} does not say {fact!r}"
    fields = why_fields(report)
    spelled = json.dumps(fields)
    counted = numbers_in(fields)
    for cause in report.causes:
        assert {cause.with_, cause.without} <= set(counted)
        assert all(json.dumps(text)[1:-1] in spelled for text in (*cause.refs, *cause.texts))
    finding = report.finding
    tallies = [one for one in (*finding.orders, finding.kept_only, finding.read_removed) if one is not None]
    assert {(tally.kept, tally.n) for tally in tallies} <= set(counted)
    assert {report.base, *(hint.without for hint in (*report.shifts, *report.against))} <= set(counted)
    assert fields["cleared"] == finding.cleared
    assert (fields["calls"], fields["reused"], fields["requests"]) == (report.calls, report.reused, report.requests)
    assert (fields["notes"], fields["stopped"]) == (report.notes, report.stopped)


@settings(max_examples=30)
@given(reports())
def test_the_answer_comes_first_in_one_sentence(report: WhyReport) -> None:
    first, second = why_page(report)[:2]
    assert "Why" in to_text((first,))
    answer = to_text((second,)).strip()
    assert answer.endswith(".")
    assert len(answer) < 400


@given(reports())
def test_a_report_that_ended_early_says_so_next_to_the_answer(report: WhyReport) -> None:
    third = to_text(why_page(report)[2:3])
    assert third.startswith("Ended early: It ended by") is (report.stopped is not None)


@given(reports())
def test_several_texts_are_not_called_it(report: WhyReport) -> None:
    page = to_text(why_page(report))
    if report.causes:
        assert ("Without it the agent" in page) is (len(report.causes[0].texts) == 1)
        assert ("Without them the agent" in page) is (len(report.causes[0].texts) > 1)


@st.composite
def fixes(draw: st.DrawFn) -> FixReport:
    measured = [
        Candidate(
            name=f"change-{number}",
            edit=f"Rule {number}.",
            kept=kept,
            n=n,
            p=draw(st.floats(1e-9, 1)),
            controls=draw(counts),
            verdict=draw(st.sampled_from(("PASS", "PART", "FAIL"))),
            reason=draw(st.sampled_from(("", f"because of {number}"))),
            instead=draw(actions),
        )
        for number in range(draw(st.integers(0, 4)))
        for kept, n in [draw(counts)]
    ]
    best = next((one.name for one in measured if one.verdict == "PASS"), None)
    return fix_report(candidates=measured, best=best, base=draw(counts), notes=["a note"], why=draw(reports()))


@settings(max_examples=40)
@given(fixes())
def test_every_form_of_fix_holds_every_fact(report: FixReport) -> None:
    found = ["a note", *(report.why.headline if report.why else [])]
    for one in report.candidates:
        found += [one.name, one.edit, one.verdict, told_in((one.kept, one.n)), told_in(one.controls), one.reason]
        found += [f"{action} ({count})" for action, count in one.instead]
    for name, form in forms(fix_page(report)).items():
        for fact in found:
            assert says(form, fact), f"{name} does not say {fact!r}"
    fields = fix_fields(report)
    spelled = json.dumps(fields)
    for one in report.candidates:
        assert all(json.dumps(fact)[1:-1] in spelled for fact in (one.name, one.verdict, one.edit, one.reason))
        assert one.controls in numbers_in(fields)
