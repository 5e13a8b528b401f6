"""One event of a run in short, with where in the run it stands and what it belongs to."""

from __future__ import annotations

from ..text import visible
from ..trace.events import Event
from ..trace.trace import Trace
from .document import Block, Document, Heading, Paragraph, Quote, Recorded
from .event_text import body
from .trace_page import seconds

_GLIMPSE = 1_500
"""Characters of an event that fit a screen."""


def glimpse_page(trace: Trace, position: int) -> Document:
    """The event at a position of the file, from 0 on."""
    event = trace.events[position]
    began = trace.events[0].ts
    after = f" after {seconds(event.ts - began)}" if began and event.ts > began else ""
    text = body(event)
    page: list[Block] = [
        Heading((f"Event {event.id}, ", Recorded(event.type), f", {position + 1:,} of {len(trace.events):,}{after}")),
        Quote(text, limit=_GLIMPSE),
    ]
    told = _belongs(trace, event)
    if len(visible(text)) > _GLIMPSE:
        told = [*told, "`all` shows it whole."]
    if told:
        page.append(Paragraph((" ".join(told),)))
    return tuple(page)


def _belongs(trace: Trace, event: Event) -> list[str]:
    """What an event is part of, in words."""
    if event.type == "tool_result" and event.parent is not None:
        return [f"The call is event {event.parent}."]
    call = trace.call(event)
    if call is None:
        return []
    if event.id == call.request.id:
        return (
            ["No reply to it was recorded."] if call.response is None else [f"The reply is event {call.response.id}."]
        )
    return [f"The reply to event {call.request.id}. `context` shows what the model saw, `why` asks what made it do so."]
