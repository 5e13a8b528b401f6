"""`runtape show`: the timeline of a run, or one event of it."""

from __future__ import annotations

from typing import Annotated

import typer

from ..report.trace_page import event_page, timeline_page
from ..trace.events import Event
from ..trace.lookup import find_trace
from ..trace.refs import resolve
from ..trace.trace import Trace
from ..wire.values import JsonObject
from . import console, options


def command(
    trace: options.TraceArgument,
    event: Annotated[
        str | None,
        typer.Argument(metavar="[EVENT]", help="Event number, `tool:NAME` or `last`; without it, the timeline."),
    ] = None,
    *,
    as_json: options.AsJson = False,
) -> int:
    """Show the timeline of a recorded run, or everything in one event.

    Example: runtape show last tool:forward_email
    """
    recorded = Trace.load(find_trace(trace))
    chosen = None if event is None else event_meant(recorded, options.event_reference(event))
    if as_json:
        shown = recorded.events if chosen is None else [chosen]
        console.print_json({"trace": recorded.name, "events": [_fields(one) for one in shown]})
    else:
        console.print_page(timeline_page(recorded) if chosen is None else event_page(recorded, chosen))
    return console.DONE


def event_meant(trace: Trace, reference: int | str) -> Event:
    """The event of that number, or that a person means by `tool:NAME` or `last`.

    Raises:
        BadInput: there is none.
    """
    if isinstance(reference, int):
        return trace.event(reference)
    moment = resolve(trace, reference)
    return moment.tool_call or moment.response


def _fields(event: Event) -> JsonObject:
    return {
        "id": event.id,
        "ts": event.ts,
        "type": event.type,
        "parent": event.parent,
        "payload": event.payload,
        "meta": event.meta,
    }
