"""`runtape context`: what the model saw at a decision."""

from __future__ import annotations

from ..context.seen import seen
from ..report.context_page import context_fields, context_page
from ..trace.lookup import find_trace
from ..trace.refs import resolve
from ..trace.trace import Trace
from . import console, options


def command(trace: options.TraceArgument, event: options.EventArgument, *, as_json: options.AsJson = False) -> int:
    """Show what the model saw at a decision: each message in pieces with their references.

    A reference can be given to `rerun --drop` or `why --suspect`.

    Example: runtape context last tool:forward_email
    """
    recorded = Trace.load(find_trace(trace))
    moment = resolve(recorded, options.event_reference(event))
    context = seen(recorded, moment)
    if as_json:
        console.print_json(context_fields(recorded.name, moment, context))
    else:
        console.print_page(context_page(recorded.name, moment, context))
    return console.DONE
