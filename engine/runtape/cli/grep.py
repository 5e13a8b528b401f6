"""`runtape grep`: where a text stands, and where it came from."""

from __future__ import annotations

from typing import Annotated

import typer

from ..report.search_page import search_fields, search_page
from ..trace.lookup import find_trace
from ..trace.search import search
from ..trace.trace import Trace
from . import console, options


def command(
    trace: options.TraceArgument,
    term: Annotated[str, typer.Argument(metavar="TERM", help="The text, letter case aside.")],
    *,
    as_json: options.AsJson = False,
) -> int:
    """Show where a text stands in a recorded run, and where it first entered it.

    Exit status 1 when no event holds it.

    Example: runtape grep last northwind-clearing
    """
    recorded = Trace.load(find_trace(trace))
    found = search(recorded, term)
    if as_json:
        console.print_json(search_fields(recorded.name, term, found))
    else:
        console.print_page(search_page(recorded.name, term, found))
    return console.DONE if found else console.DOES_NOT_HOLD
