"""`runtape timeline`: the events of a run, in pages."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from ..report.document import Paragraph
from ..report.event_text import gist
from ..report.trace_page import timeline_page
from ..trace.events import Event
from ..trace.lookup import find_trace
from ..trace.trace import Trace
from ..wire.values import JsonObject
from . import console, options


def command(
    trace: options.TraceArgument,
    *,
    offset: Annotated[int, typer.Option(min=0, metavar="N", help="Events to leave out at the beginning.")] = 0,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="Most events of a page.")] = 50,
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Only events of this kind, such as `tool_call`; may be given again."),
    ] = None,
    as_json: options.AsJson = False,
) -> int:
    """Show the events of a recorded run, one line each, in pages.

    Example: runtape timeline last --kind tool_call --kind tool_result
    """
    recorded = Trace.load(find_trace(trace))
    wanted = [event for event in recorded.events if not kind or event.type in kind]
    shown = wanted[offset : offset + limit]
    end = offset + len(shown)
    if as_json:
        console.print_json(
            {
                "trace": recorded.name,
                "total": len(wanted),
                "events": [_fields(event) for event in shown],
                "next_offset": end if end < len(wanted) else None,
            }
        )
        return console.DONE
    page = timeline_page(recorded, shown, offset)
    if not shown:
        page += (Paragraph((f"Nothing to show from {offset} on; there are {len(wanted):,} such events.",)),)
    elif end < len(wanted):
        again = "".join(f" --kind {shlex.quote(one)}" for one in kind or ())
        more = f"{len(wanted) - end:,} more: runtape timeline {shlex.quote(trace)}{again} --offset {end}"
        page += (Paragraph((more,)),)
    console.print_page(page)
    return console.DONE


def _fields(event: Event) -> JsonObject:
    return {"id": event.id, "ts": event.ts, "type": event.type, "parent": event.parent, "what": gist(event)}
