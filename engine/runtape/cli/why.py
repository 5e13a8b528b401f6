"""`runtape why`: which part of the context caused a decision."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ..context.seen import seen
from ..report.fields import ranking_fields, why_fields
from ..report.ranking_page import ranking_page
from ..report.results import WhyReport
from ..report.why_page import why_page
from ..trace.refs import resolve
from ..trace.trace import Trace
from . import console, options, typed, values
from .page_file import write_page


def command(
    trace: options.TraceArgument,
    event: options.EventArgument,
    *,
    chosen: options.DecisionFlags,
    searched: options.SearchFlags,
    dry: Annotated[bool, typer.Option("--dry", help="Rank the pieces without any model call.")] = False,
    budget: Annotated[int, typer.Option(min=1, metavar="N", help="Most model calls.")] = 400,
    reruns: options.RerunFlags,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the report as a page with drawings, too.", callback=values.writable),
    ] = None,
    as_json: options.AsJson = False,
) -> int:
    """Find the sentence that a recorded decision depends on, by rerunning that one model call with parts left out.

    Example: runtape why last tool:forward_email
    """
    # numpy and the search are only needed once there is something to explain.
    from ..ops import explain
    from ..ops.ending import stopped
    from ..ops.sync import run

    case = options.open_decision(trace, event, chosen)
    if dry:
        ranking = explain.dry(case)
        if as_json:
            console.print_json(ranking_fields(ranking))
        else:
            console.print_page(ranking_page(ranking, typed.speller(ranking.trace, event)))
        return console.DONE
    question = searched.inquiry(case, budget)
    asking = replace(reruns.asking(budget), concurrency=searched.concurrency)
    with console.watching() as watch:
        try:
            report = run(explain.explain(question, asking, watch))
        except KeyboardInterrupt:
            if watch.latest is not None and isinstance(watch.latest.partial, WhyReport):
                _print(stopped(watch.latest.partial), event, html, as_json=as_json)
            else:
                console.stopped_too_early()
            return console.INTERRUPTED
    _print(report, event, html, as_json=as_json)
    return console.report_status(report.stopped_by, holds=bool(report.causes))


def _print(report: WhyReport, event: str, html: Path | None, *, as_json: bool) -> None:
    spell = typed.speller(report.trace, event)
    if as_json:
        console.print_json(why_fields(report, spell=spell))
    else:
        console.print_page(why_page(replace(report, notes=console.untold(report.notes)), spell))
    if html is not None:
        from ..report.why_html import why_html  # drawings, for this flag alone

        trace = Trace.load(report.trace)
        write_page(html, why_html(report, seen(trace, resolve(trace, report.event)), spell))
