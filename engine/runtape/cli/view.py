"""`runtape view`: a run as a web page."""

from __future__ import annotations

import sys
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..trace.lookup import find_trace
from ..trace.trace import Trace
from . import console, options, values
from .page_file import write_page

if TYPE_CHECKING:
    from ..report.results import WhyReport


def command(
    trace: options.LastTrace = "last",
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write one HTML file that needs no server, in place of serving.",
            callback=values.writable,
        ),
    ] = None,
    why: Annotated[
        str | None,
        typer.Option(
            metavar="EVENT", help="Explain this decision first and lay the report over its context; see `runtape why`."
        ),
    ] = None,
    chosen: options.DecisionFlags,
    searched: options.SearchFlags,
    budget: Annotated[int, typer.Option(min=1, metavar="N", help="Most model calls for --why.")] = 400,
    reruns: options.RerunFlags,
    port: Annotated[
        int, typer.Option(min=0, metavar="N", max=65535, help="Port on 127.0.0.1; 0 takes a free one.")
    ] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the address and open no browser.")] = False,
) -> int:
    """Look at a recorded run in the browser: timeline, events, what the model saw, where a text came from.

    The page is served on 127.0.0.1 under a secret address until Ctrl-C. With --why, reruns that were paid for before
    come from the reply cache.

    Example: runtape view last --out run.html
    """
    recorded = Trace.load(find_trace(trace))
    reports: dict[int, WhyReport] = {}
    if why is not None:
        # numpy and the search are only needed when there is something to explain.
        from ..ops.explain import explain
        from ..ops.sync import run

        case = options.open_decision(recorded, why, chosen)
        asking = replace(reruns.asking(budget), concurrency=searched.concurrency)
        with console.watching() as watch:
            report = run(explain(searched.inquiry(case, budget), asking, watch))
        reports[report.event] = report
    if out is not None:
        from ..report.trace_fields import whole_fields  # pieces and pages, for this command alone
        from ..report.view import trace_view

        replies = sum(call.response is not None for call in recorded.calls)
        with console.counting("reading the run", len(recorded.events) + replies) as advance:
            whole = whole_fields(recorded, reports, on_part=advance)
        write_page(out, trace_view(whole))
        if whole["left_out"]:
            console.complain(
                f"the file has no room for {whole['left_out']:,} contexts; runtape view without --out has."
            )
        return console.DONE
    from ..viewer.serve import serve  # an HTTP server, for this command alone

    serve(recorded, reports, port, lambda address: _opened(address, in_browser=not no_open))
    return console.DONE


def _opened(address: str, *, in_browser: bool) -> None:
    sys.stdout.write(f"{address}\nCtrl-C ends it. Whoever has this address can read the run.\n")
    sys.stdout.flush()
    if in_browser:
        webbrowser.open(address)
