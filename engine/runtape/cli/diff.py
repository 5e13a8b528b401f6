"""`runtape diff`: how the contexts of two decisions differ."""

from __future__ import annotations

from typing import Annotated

import typer

from ..report.comparison_page import comparison_fields, comparison_page
from ..trace.comparison import compare
from ..trace.lookup import find_trace
from ..trace.refs import resolve
from ..trace.trace import Trace
from . import console, options


def command(
    trace: options.TraceArgument,
    one: Annotated[str, typer.Argument(metavar="A", help="A decision: an event number, `tool:NAME`, or `last`.")],
    other: Annotated[str, typer.Argument(metavar="B", help="The decision to compare it with.")],
    *,
    as_json: options.AsJson = False,
) -> int:
    """Show how the contexts of two decisions differ.

    Example: runtape diff last tool:list_inbox tool:forward_email
    """
    recorded = Trace.load(find_trace(trace))
    before, after = (resolve(recorded, options.event_reference(event)) for event in (one, other))
    compared = compare(recorded, before, after)
    name, events = recorded.name, (before.response.id, after.response.id)
    if as_json:
        console.print_json(comparison_fields(name, *events, compared))
    else:
        console.print_page(comparison_page(name, *events, compared))
    return console.DONE
