"""`runtape browse`: a run, event by event, in any terminal."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from ..errors import RuntapeError
from ..trace.lookup import find_trace
from ..trace.trace import Trace
from . import console, options
from .browse_why import BrowseWhy
from .walk import Walk


def command(
    trace: options.LastTrace = "last",
    *,
    event: Annotated[
        str | None, typer.Option(metavar="EVENT", help="Begin there: an event number, `tool:NAME` or `last`.")
    ] = None,
    budget: Annotated[int, typer.Option(min=1, metavar="N", help="Most model calls for one why.")] = 400,
    prices: options.Prices = None,
    model_fn: options.ModelFn = None,
    base_url: options.BaseUrl = None,
    no_cache: options.NoCache = False,
) -> int:
    """Walk through a recorded run in the terminal, and ask why of the event one is at.

    Say next, back, goto, list, all, context, search, diff, why, help or quit; the first letter will do. `why` says what
    it will cost and asks before anything is sent. Lines may be piped in, too; the exit status is then that of the last
    one that failed.

    Example: runtape browse last
    """
    recorded = Trace.load(find_trace(trace))
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    reruns = options.RerunFlags(model_fn, base_url, prices=prices, no_cache=no_cache)
    walk = Walk(recorded, BrowseWhy(recorded, _answered, budget, reruns))
    if event is not None:
        walk.say(f"goto {event}")
    console.print_page(walk.here())
    return _walked(walk)


def _walked(walk: Walk) -> int:
    """Answer lines until there are no more, or one of them says to leave."""
    terminal, status = sys.stdin.isatty(), console.DONE
    while True:
        try:
            line = _answered(f"event {walk.event} ({walk.position + 1:,} of {len(walk.trace.events):,})> ")
        except KeyboardInterrupt:
            sys.stdout.write("\n")
            return console.INTERRUPTED
        if not line:
            sys.stdout.write("\n" if terminal else "")
            return status
        failed = _said(walk, line)
        if failed is None:
            return status
        status = status if terminal else failed or status


def _said(walk: Walk, line: str) -> int | None:
    """Print the answer to one line; its exit status, None to leave."""
    try:
        page = walk.say(line)
    except RuntapeError as error:
        console.complain(str(error))
        return console.exit_status(error)
    except KeyboardInterrupt:
        console.complain("interrupted; you are where you were.")
        return console.INTERRUPTED
    if page is None:
        return None
    sys.stdout.write("\n")
    console.print_page(page)
    return console.DONE


def _answered(question: str) -> str:
    """The next line with its end, empty where there is none; a terminal sees the question."""
    if sys.stdin.isatty():
        sys.stdout.write(f"\n{question}")
    sys.stdout.flush()
    return sys.stdin.readline()
