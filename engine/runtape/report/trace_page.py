"""A recorded run to look at: its timeline, and one event of it."""

from __future__ import annotations

from ..trace.events import Event
from ..trace.trace import Trace
from .document import Bullets, Document, Heading, Paragraph, Quote, Recorded, Table
from .event_text import body, gist
from .phrases import number

_WHOLE = 1_000_000
"""Characters of an event that are shown; a person who asked for it can page through them."""


def timeline_page(trace: Trace) -> Document:
    """Every event of the run in one row each, and what was wrong with the file."""
    summary = trace.summary()
    status = f"{number(summary.events, 'event')}, {number(summary.model_calls, 'model call')}, status {summary.status}."
    page: Document = (
        Heading(("Run ", Recorded(trace.name)), level=1),
        Paragraph((status,)),
        Table(
            ("event", "kind", "what"),
            tuple(((str(event.id),), (Recorded(event.type),), (Recorded(gist(event)),)) for event in trace.events),
        ),
    )
    if not trace.problems:
        return page
    lines = tuple((f"line {problem.line}: ", Recorded(problem.reason)) for problem in trace.problems)
    return (*page, Heading(("What could not be read",)), Bullets(lines))


def event_page(trace: Trace, event: Event) -> Document:
    """Everything that one event holds."""
    return (
        Heading((f"Event {event.id} of ", Recorded(trace.name), ": ", Recorded(event.type)), level=1),
        Quote(body(event), limit=_WHOLE),
    )
