"""The three views of a trace: its timeline, one event, the context of a model call."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runtape.report.event_text import body, gist, outline, tool_names
from runtape.trace.events import Event
from runtape.trace.origins import Origin, origins
from runtape.trace.refs import resolve
from runtape.trace.search import AROUND, places_of
from runtape.trace.trace import Trace
from runtape.wire.values import Json

from .fence import Fence
from .views import Part, Row, row_page, text_page

_NUMBER = re.compile(r"[0-9]{1,16}")


def timeline_page(name: str, trace: Trace, part: Part) -> str:
    """One row for each event; with `find`, only for those that hold the text."""
    if part.find:
        held = [
            (event, places[0]) for event in trace.events if (places := places_of(body(event), part.find, Fence.clean))
        ]
        head = f"Events of {name} that hold the text."
        return row_page(head, held, lambda at: Row(_label(at[0]), at[1].around), part, width=4 * AROUND)
    summary = f"{len(trace.events):,} events, {len(trace.calls):,} model calls"
    head = f"Timeline of {name}: {summary}.{_damage(trace)} show_event with event=N shows one in full."
    return row_page(head, trace.events, lambda event: Row(_label(event), gist(event)), part)


def event_page(name: str, trace: Trace, event: int | str, part: Part) -> str:
    """What one event holds; with `find`, where the text stands in it.

    Raises:
        EventNotFound: there is no such event.
    """
    shown = _event(trace, event)
    fence = Fence()
    parent = f", parent event {shown.parent}" if shown.parent is not None else ""
    head = f"Event {shown.id} of {name}: {fence.show(shown.type)}{parent}."
    return _page(head, body(shown), part)


def context_page(name: str, trace: Trace, event: int | str, part: Part) -> str:
    """Everything the model was sent at an event, each message under its reference.

    Raises:
        EventNotFound: there is no such event.
        NotADecision: the event belongs to no model call.
    """
    moment = resolve(trace, event)
    request, response = moment.request, moment.response
    head = f"Context of {name} at event {response.id}: what request {request.id} sent. EVENT[MESSAGE] is a reference."
    text = "\n".join(f"{heading}\n{outline(value, 1)}" for heading, value in _sent(trace, event))
    return _page(head, text, part)


def _sent(trace: Trace, event: int | str) -> Iterator[tuple[str, Json]]:
    moment = resolve(trace, event)
    parts = trace.context(moment.request.id)
    came = {origin.index: origin for origin in origins(trace, moment) if origin.block is None}
    if parts.system is not None:
        yield f"{_origin(came, -1)}[system]", parts.system
    for index, message in enumerate(parts.messages):
        yield f"{_origin(came, index)}[{index}]", message
    if parts.tools:
        yield "tools", tool_names(parts.tools)
    yield "model and parameters", {"model": parts.model, **parts.params}


def _page(head: str, text: str, part: Part) -> str:
    if not part.find:
        return text_page(head, text, part)
    said = f"{head} Where the text stands; offset=CHARACTER without find shows more around it."
    places = places_of(text, part.find, Fence.clean)
    return row_page(said, places, lambda at: Row(f"character {at.start}:", at.around), part, width=4 * AROUND)


def _event(trace: Trace, event: int | str) -> Event:
    if isinstance(event, int) or _NUMBER.fullmatch(event):
        return trace.event(int(event))
    moment = resolve(trace, event)
    return moment.tool_call or moment.response


def _label(event: Event) -> str:
    return f"#{event.id} {event.type}"


def _damage(trace: Trace) -> str:
    if not trace.problems:
        return ""
    torn = " and the last line is cut off" if trace.truncated else ""
    return f" {len(trace.problems):,} lines could not be read fully{torn}."


def _origin(came: dict[int, Origin], index: int) -> int:
    return came[index].event if index in came else 0
