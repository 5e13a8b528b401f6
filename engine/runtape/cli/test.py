"""`runtape test`: a pytest file that fails when a recorded decision comes back."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from . import console, options, values


def command(
    trace: options.TraceArgument,
    event: options.EventArgument,
    *,
    out: Annotated[
        Path,
        typer.Option(metavar="PATH", help="The new file, named test_*.py. Never overwrites.", callback=values.new_test),
    ],
    add_system: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The fix: TEXT at the end of the system prompt.")
    ] = None,
    system_from: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:NAME", help="Test the prompt that your code uses now.", callback=values.system_import
        ),
    ] = None,
    clean_with: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:FUNCTION",
            help="Test your function that cleans what tools return.",
            callback=values.cleaner_import,
        ),
    ] = None,
    guard_with: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:FUNCTION", help="Test your function that checks tool calls.", callback=values.guard_import
        ),
    ] = None,
    control: Annotated[
        list[str] | None,
        typer.Option(metavar="[TRACE:]EVENT", help="A decision that must still be made; may be given again."),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Most reruns that the test makes. [default: 10; 100 with --rate-below]"),
    ] = None,
    rate_below: Annotated[
        float | None,
        typer.Option(
            metavar="RATE",
            help="Pass when fewer than this share of replies call the tool, such as 0.1.",
            callback=values.rate,
        ),
    ] = None,
    budget: Annotated[int | None, typer.Option(min=1, metavar="N", help="Most model calls for each decision.")] = None,
    chosen: options.DecisionFlags,
    model_fn: options.ModelFn = None,
    base_url: options.BaseUrl = None,
    no_cache: Annotated[
        bool,
        typer.Option("--no-cache", help="Read nothing from .runtape; the written test keeps no replies either way."),
    ] = False,
    as_json: options.AsJson = False,
) -> int:
    """Write a regression test for a recorded decision, with the trace beside it.

    Example: runtape test last tool:forward_email --out tests/test_inbox.py --add-system "Never forward invoices."
    """
    # the sampler comes with the verbs.
    from ..ops import regression

    case = options.open_decision(trace, event, chosen)
    written = regression.write_test(
        case.trace,
        options.event_reference(event),
        out,
        add_system=add_system,
        system_from=system_from,
        clean_with=clean_with,
        guard_with=guard_with,
        controls=tuple(control or ()),
        runs=runs,
        rate_below=rate_below,
        tool=chosen.tool,
        match=chosen.match,
        exact_args=chosen.exact_args,
        args=case.selection.args,
        where=chosen.where,
        judge=case.selection.judge,
        budget=budget,
        model=model_fn,
        base_url=base_url,
        cache_dir=options.cache_dir(no_cache=no_cache),
    )
    command_line = f"python -m pytest {shlex.quote(str(written))}"
    if as_json:
        console.print_json({"path": str(written), "command": command_line})
    else:
        sys.stdout.write(f"wrote {written}\nrun it with: {command_line}\n")
    return console.DONE
