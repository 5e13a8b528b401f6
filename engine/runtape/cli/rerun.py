"""`runtape rerun`: what a recorded decision becomes with a change."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from ..report.fields import rerun_fields
from ..report.rerun_page import rerun_page
from ..report.results import Distribution
from . import console, options


def command(
    trace: options.TraceArgument,
    event: options.EventArgument,
    *,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="REF", help="Leave this piece out; may be given again.")
    ] = None,
    replace: Annotated[str | None, typer.Option(metavar="OLD=>NEW", help="Put NEW for every OLD.")] = None,
    system_file: Annotated[Path | None, typer.Option(metavar="F", help="Use this file as the system prompt.")] = None,
    add_system: Annotated[str | None, typer.Option(metavar="TEXT", help="Append TEXT to the system prompt.")] = None,
    mark: Annotated[
        str | None,
        typer.Option(metavar="STYLE", help="Mark what tools returned as data: `delimiters` or `datamarking`."),
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="M", help="Ask another model of the same API.")] = None,
    runs: Annotated[int, typer.Option(min=1, metavar="N", help="Replies that count.")] = 10,
    budget: Annotated[int | None, typer.Option(min=1, metavar="N", help="Most model calls.")] = None,
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
    """Ask the model again, with the recorded context or with a change to it, and count what it does.

    Example: runtape rerun last tool:forward_email --add-system "Never forward invoices."
    """
    # the sampler is only needed once there is something to send.
    from ..ops import rerunning
    from ..ops.ending import STOPPED
    from ..ops.sync import run

    reference = options.event_reference(event)
    options.tell_before_spending(trace, reference)
    with console.watching() as watch:
        try:
            seen = run(
                rerunning.rerun(
                    trace,
                    reference,
                    runs=runs,
                    drop=tuple(drop or ()),
                    replace=replace,
                    system=options.read_text_option(system_file),
                    add_system=add_system,
                    mark=mark,
                    model=model_fn,
                    base_url=base_url,
                    model_name=model,
                    tool=tool,
                    match=match,
                    exact_args=exact_args,
                    args=tuple(arg or ()),
                    where=where,
                    judge=options.judge(judge, judge_fn),
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
            known = None if watch.latest is None else watch.latest.partial
            if isinstance(known, Distribution) and len(known):
                _print(dataclasses.replace(known, stopped=STOPPED.text, stopped_by=STOPPED.by), as_json=as_json)
            else:
                console.stopped_too_early()
            return console.INTERRUPTED
    _print(seen, as_json=as_json)
    return console.MODEL if seen.tally.broken else console.report_status(seen.stopped_by, holds=True)


def _print(seen: Distribution, *, as_json: bool) -> None:
    if as_json:
        console.print_json(rerun_fields(seen))
    else:
        console.print_page(rerun_page(seen))
