"""`runtape fix`: which changes make a recorded decision go away, and what they break."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..report.fields import fix_fields
from ..report.fix_page import fix_page
from ..report.results import FixReport
from ..report.text import to_text
from . import console, options, traces


def command(
    trace: options.TraceArgument,
    event: options.EventArgument,
    *,
    candidate: Annotated[
        list[str] | None,
        typer.Option(help="A sentence for the system prompt, or a JSON object as in the docs; may be given again."),
    ] = None,
    control: Annotated[
        list[str] | None,
        typer.Option(metavar="TRACE:EVENT", help="A decision that the fix must not break; may be given again."),
    ] = None,
    write_test: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Write a pytest file for the best fix that passes.")
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Reruns of the decision for each fix.")] = 10,
    budget: Annotated[int, typer.Option(min=1, help="Most model calls.")] = 600,
    tool: options.Tool = None,
    match: options.Match = None,
    exact_args: options.ExactArgs = False,
    model_fn: options.ModelFn = None,
    base_url: options.BaseUrl = None,
    no_cache: options.NoCache = False,
    as_json: options.AsJson = False,
) -> int:
    """Measure fixes on the exact context that failed, and on decisions that they must not break.

    Example: runtape fix last tool:forward_email --write-test tests/test_inbox.py
    """
    # numpy and the sampler are only needed once there is something to measure.
    from ..ops import regression, repair
    from ..ops.sync import run

    path, reference = traces.find(trace), options.event_reference(event)
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
                    candidates=options.candidates(candidate or []),
                    controls=tuple(control or ()),
                    runs=runs,
                    budget=budget,
                    cache_dir=options.cache_dir(no_cache=no_cache),
                    on_progress=watch,
                )
            )
        except KeyboardInterrupt:
            if watch.latest is not None and isinstance(watch.latest.partial, FixReport):
                _print(watch.latest.partial, as_json=as_json)
            return console.INTERRUPTED
    _print(report, as_json=as_json)
    if report.best is not None and write_test is not None:
        best = next(measured for measured in report.candidates if measured.name == report.best)
        written = regression.write_test(
            path, reference, write_test, fix=best, tool=tool, match=match, exact_args=exact_args, model=model_fn
        )
        console.complain(f"wrote {written}; run it with: python -m pytest {written}")
    return console.report_status(report.stopped_by, holds=report.best is not None)


def _print(report: FixReport, *, as_json: bool) -> None:
    if as_json:
        console.print_json(fix_fields(report))
    else:
        sys.stdout.write(to_text(fix_page(report)))
