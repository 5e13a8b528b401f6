"""`runtape odds`: how often a recorded decision is made again."""

from __future__ import annotations

from typing import Annotated

import typer

from . import options, rerun


def command(
    trace: options.TraceArgument,
    event: options.EventArgument,
    *,
    runs: Annotated[int, typer.Option(min=1, metavar="N", help="Replies that count.")] = 20,
    budget: Annotated[int | None, typer.Option(min=1, metavar="N", help="Most model calls.")] = None,
    budget_tokens: options.BudgetTokens = None,
    budget_usd: options.BudgetUsd = None,
    prices: options.Prices = None,
    tool: options.Tool = None,
    match: options.Match = None,
    exact_args: options.ExactArgs = False,
    arg: options.Arg = None,
    where: options.Where = None,
    judge: options.JudgeQuestion = None,
    judge_fn: options.JudgeFn = None,
    model_fn: options.ModelFn = None,
    base_url: options.BaseUrl = None,
    no_cache: options.NoCache = False,
    as_json: options.AsJson = False,
) -> int:
    """Rerun a recorded decision as it was and count how often it is made again.

    Example: runtape odds last tool:forward_email --runs 20
    """
    return rerun.command(
        trace,
        event,
        runs=runs,
        budget=budget,
        budget_tokens=budget_tokens,
        budget_usd=budget_usd,
        prices=prices,
        tool=tool,
        match=match,
        exact_args=exact_args,
        arg=arg,
        where=where,
        judge=judge,
        judge_fn=judge_fn,
        model_fn=model_fn,
        base_url=base_url,
        no_cache=no_cache,
        as_json=as_json,
    )
