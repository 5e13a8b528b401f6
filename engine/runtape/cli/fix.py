"""`runtape fix`: which changes make a recorded decision go away, and what they break."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from ..report.fields import fix_fields, why_fields
from ..report.fix_page import fix_page
from ..report.results import FixReport, WhyReport
from ..report.why_page import why_page
from ..trace.lookup import find_trace
from . import console, options


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
        ),
    ] = None,
    write_test: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Write a pytest file for the best fix that passes.")
    ] = None,
    runs: Annotated[int, typer.Option(min=1, metavar="N", help="Reruns of the decision for each fix.")] = 10,
    budget: Annotated[int, typer.Option(min=1, metavar="N", help="Most model calls.")] = 600,
    tool: options.Tool = None,
    match: options.Match = None,
    exact_args: options.ExactArgs = False,
    arg: options.Arg = None,
    where: options.Where = None,
    judge: options.JudgeQuestion = None,
    judge_fn: options.JudgeFn = None,
    model_fn: options.ModelFn = None,
    base_url: options.BaseUrl = None,
    budget_tokens: options.BudgetTokens = None,
    budget_usd: options.BudgetUsd = None,
    prices: options.Prices = None,
    batch: options.Batch = False,
    no_cache: options.NoCache = False,
    as_json: options.AsJson = False,
) -> int:
    """Measure fixes on the exact context that failed, and on decisions that they must not break.

    Example: runtape fix last tool:forward_email --write-test tests/test_inbox.py
    """
    # numpy and the sampler are only needed once there is something to measure.
    from ..ops import regression, repair
    from ..ops.ending import stopped
    from ..ops.placing import place
    from ..ops.sync import run

    # `last` is looked up once: another run may be recorded in the meantime.
    path, reference = find_trace(trace), options.event_reference(event)
    options.tell_before_spending(str(path), reference)
    judged_by = options.judge(judge, judge_fn)
    if write_test is not None:
        place(write_test, None)  # refused before anything is paid
    with console.watching() as watch:
        try:
            report = run(
                repair.fix(
                    path,
                    reference,
                    model=model_fn,
                    base_url=base_url,
                    tool=tool,
                    match=match,
                    exact_args=exact_args,
                    args=tuple(arg or ()),
                    where=where,
                    judge=judged_by,
                    candidates=options.candidates(candidate or []),
                    controls=tuple(control or ()),
                    variants=tuple(variant or ()),
                    runs=runs,
                    budget=budget,
                    budget_tokens=budget_tokens,
                    budget_usd=budget_usd,
                    prices=prices,
                    cache_dir=options.cache_dir(no_cache=no_cache),
                    batch=batch,
                    on_progress=watch,
                )
            )
        except KeyboardInterrupt:
            match watch.latest and watch.latest.partial:
                case FixReport() as measured:
                    _print(stopped(measured), as_json=as_json)
                case WhyReport() as cause:
                    _print_cause(stopped(cause), as_json=as_json)
                case _:
                    console.stopped_too_early()
            return console.INTERRUPTED
    _print(report, as_json=as_json)
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
            path,
            reference,
            write_test,
            fix=best,
            tool=tool,
            match=match,
            exact_args=exact_args,
            args=tuple(arg or ()),
            where=where,
            judge=judged_by,
            model=model_fn,
            base_url=base_url,
        )
        console.complain(f"wrote {written}; run it with: python -m pytest {shlex.quote(str(written))}")
    return console.report_status(
        report.stopped_by, holds=best is not None and (written is not None) == bool(write_test)
    )


def _print(report: FixReport, *, as_json: bool) -> None:
    if as_json:
        console.print_json(fix_fields(report))
    else:
        console.print_page(fix_page(report))


def _print_cause(report: WhyReport, *, as_json: bool) -> None:
    if as_json:
        console.print_json(why_fields(report))
    else:
        console.print_page(why_page(report))
