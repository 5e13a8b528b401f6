"""`runtape fix`: which changes make a recorded decision go away, and what they break."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ..report.fields import fix_fields, why_fields
from ..report.fix_page import fix_page
from ..report.results import FixReport, WhyReport
from ..report.why_page import why_page
from . import console, options, typed, values


def command(
    trace: options.TraceArgument,
    event: options.EventArgument,
    *,
    candidate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT|JSON",
            help="A sentence for the system prompt, called candidate-1 (2, ...) in the report, or JSON such as"
            ' \'{"name": "no-links", "clean": "<a href"}\'; may be given again.',
            callback=values.candidates,
        ),
    ] = None,
    control: Annotated[
        list[str] | None,
        typer.Option(metavar="[TRACE:]EVENT", help="A decision that the fix must not break; may be given again."),
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="What the cause could say in other words; a fix has to hold there too; may be given again.",
            callback=values.variants,
        ),
    ] = None,
    write_test: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH", help="Write a pytest file for the best fix that passes.", callback=values.new_test
        ),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, metavar="N", help="Reruns of the decision for each fix.")] = 10,
    budget: Annotated[int, typer.Option(min=1, metavar="N", help="Most model calls.")] = 600,
    chosen: options.DecisionFlags,
    reruns: options.RerunFlags,
    as_json: options.AsJson = False,
) -> int:
    """Measure fixes on the exact context that failed, and on decisions that they must not break.

    Example: runtape fix last tool:forward_email --write-test tests/test_inbox.py
    """
    # numpy and the sampler are only needed once there is something to measure.
    from ..ops import regression
    from ..ops.ending import stopped
    from ..ops.forms import checked
    from ..ops.repair import Plan, repair
    from ..ops.sync import run

    case = options.open_decision(trace, event, chosen)
    own = values.candidates_in(candidate or [])
    plan = Plan(case, tuple(own), tuple(control or ()), runs, budget, checked(variant or ()))
    with console.watching() as watch:
        try:
            report = run(repair(plan, reruns.asking(budget), watch))
        except KeyboardInterrupt:
            match watch.latest and watch.latest.partial:
                case FixReport() as measured:
                    _print(stopped(measured), event, as_json=as_json)
                case WhyReport() as cause:
                    _print_cause(stopped(cause), event, as_json=as_json)
                case _:
                    console.stopped_too_early()
            return console.INTERRUPTED
    _print(report, event, as_json=as_json, tested=write_test is not None)
    best = next((measured for measured in report.candidates if measured.name == report.best), None)
    written = None
    if write_test is not None and best is None:
        console.complain("no test was written, since no fix passes")
    elif write_test is not None and best is not None and not best.edits:
        console.complain(
            f"no test was written: {best.name} is a check outside the model, which no rerun tests. Put it into the "
            "agent's code, and test that code"
        )
    elif write_test is not None and best is not None:
        written = regression.write_test(
            case.trace,
            options.event_reference(event),
            write_test,
            fix=best,
            tool=chosen.tool,
            match=chosen.match,
            exact_args=chosen.exact_args,
            args=case.selection.args,
            where=chosen.where,
            judge=case.selection.judge,
            model=reruns.model_fn,
            base_url=reruns.base_url,
        )
        console.complain(f"wrote {written}; run it with: python -m pytest {shlex.quote(str(written))}")
        console.complain(
            "the test keeps the change: put it into the agent, and `runtape test` with --system-from or --clean-with "
            "keeps the agent to it"
        )
    return console.report_status(
        report.stopped_by, holds=best is not None and (written is not None) == bool(write_test)
    )


def _print(report: FixReport, event: str, *, as_json: bool, tested: bool = False) -> None:
    # The test that a best fix calls for is about to be written.
    spell = None if tested and report.best else typed.speller(report.trace, event)
    if as_json:
        console.print_json(fix_fields(report, spell=spell))
    else:
        console.print_page(fix_page(replace(report, notes=console.untold(report.notes)), spell))


def _print_cause(report: WhyReport, event: str, *, as_json: bool) -> None:
    if as_json:
        console.print_json(why_fields(report, spell=typed.speller(report.trace, event)))
    else:
        told = replace(report, notes=console.untold(report.notes))
        console.print_page(why_page(told, typed.speller(report.trace, event)))
