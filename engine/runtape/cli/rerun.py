"""`runtape rerun`: what a recorded decision becomes with a change."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from ..report.fields import rerun_fields
from ..report.rerun_page import rerun_page
from ..report.results import Distribution
from ..report.step import Spell
from . import console, options, typed, values


def command(
    trace: options.TraceArgument,
    event: options.EventArgument,
    *,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="REF", help="Leave this piece out; may be given again.")
    ] = None,
    replace: Annotated[
        str | None, typer.Option(metavar="OLD=>NEW", help="Put NEW for every OLD.", callback=values.replacement)
    ] = None,
    system_file: Annotated[
        Path | None, typer.Option(metavar="F", help="Use this file as the system prompt.", callback=values.readable)
    ] = None,
    add_system: Annotated[str | None, typer.Option(metavar="TEXT", help="Append TEXT to the system prompt.")] = None,
    mark: Annotated[
        str | None,
        typer.Option(
            metavar="STYLE",
            help="Mark what tools returned as data: `delimiters` or `datamarking`.",
            callback=values.marking,
        ),
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="M", help="Ask another model of the same API.")] = None,
    runs: Annotated[int, typer.Option(min=1, metavar="N", help="Replies that count.")] = 10,
    budget: Annotated[int | None, typer.Option(min=1, metavar="N", help="Most model calls.")] = None,
    chosen: options.DecisionFlags,
    reruns: options.RerunFlags,
    as_json: options.AsJson = False,
) -> int:
    """Ask the model again, with the recorded context or with a change to it, and count what it does.

    Example: runtape rerun last tool:forward_email --add-system "Never forward invoices."
    """
    # the sampler is only needed once there is something to send.
    from ..ops.changes import Change
    from ..ops.ending import STOPPED
    from ..ops.rerunning import send_again
    from ..ops.sync import run

    case = options.open_decision(trace, event, chosen)
    change = Change(tuple(drop or ()), replace, values.text_of(system_file), add_system, mark=mark, model_name=model)
    spell = typed.speller(str(case.trace.path), event)
    with console.watching() as watch:
        try:
            seen = run(send_again(case, change, reruns.asking(budget), watch, runs=runs))
        except KeyboardInterrupt:
            known = None if watch.latest is None else watch.latest.partial
            if isinstance(known, Distribution) and len(known):
                _print(dataclasses.replace(known, stopped=STOPPED.text, stopped_by=STOPPED.by), spell, as_json=as_json)
            else:
                console.stopped_too_early()
            return console.INTERRUPTED
    _print(seen, spell, as_json=as_json)
    return console.MODEL if seen.tally.broken else console.report_status(seen.stopped_by, holds=True)


def _print(seen: Distribution, spell: Spell, *, as_json: bool) -> None:
    if as_json:
        console.print_json(rerun_fields(seen, spell=spell))
    else:
        console.print_page(rerun_page(dataclasses.replace(seen, notes=console.untold(seen.notes)), spell))
