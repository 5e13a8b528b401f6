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
    chosen: options.DecisionFlags,
    reruns: options.RerunFlags,
    as_json: options.AsJson = False,
) -> int:
    """Rerun a recorded decision as it was and count how often it is made again.

    Example: runtape odds last tool:forward_email --runs 20
    """
    return rerun.command(trace, event, runs=runs, budget=budget, chosen=chosen, reruns=reruns, as_json=as_json)
