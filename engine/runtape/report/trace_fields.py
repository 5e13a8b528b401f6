"""A run as data for its page in `report.view`: the timeline, any event, the context of any decision, a search."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..context.seen import Contexts
from ..errors import RuntapeError
from ..text import shorten, visible
from ..trace.events import Event
from ..trace.passages import passages
from ..trace.refs import Moment
from ..trace.search import search
from ..trace.trace import Trace
from ..wire.values import Json, JsonObject
from .context_page import context_fields
from .document import Line, Recorded
from .event_text import body, gist
from .fields import Show
from .results import WhyReport
from .search_page import writer
from .view_fields import NOTHING_KNOWN, draw, view_fields

Reports = Mapping[int, WhyReport]
"""What is known about decisions, by the number of their `llm_response`."""

ROWS = 2_000
"""Rows of the timeline that a server gives at once: a page is there after the first of them."""
GIST = 160
"""Characters of a row of the timeline."""
BODY = 400_000
"""Characters of one event."""
MESSAGES = 200_000
"""Messages of all contexts in one file together: each is looked at once, and an agent that goes on for long sends its
whole conversation anew at every step. Explained decisions come first, then the last ones."""
EACH = 10
"""What a context costs besides its messages, in messages."""
_SHOW = Show(name=visible, passage=visible, ref=visible, said=visible, words=visible)


def timeline_fields(trace: Trace, reports: Reports, limit: int | None = None) -> JsonObject:
    """The run at a glance, with the first `limit` rows of its timeline, or all of them; see `rows_fields`."""
    summary = trace.summary()
    explained: list[Json] = [*reports]
    return {
        "trace": visible(trace.name),
        "status": summary.status,
        "started": summary.started,
        "total": len(trace.events),
        "calls": summary.model_calls,
        "problems": summary.problems,
        **rows_fields(trace, 0, limit),
        "explained": explained,
    }


def rows_fields(trace: Trace, first: int, limit: int | None = None) -> JsonObject:
    """Rows of the timeline from position `first` on.

    Each holds number, kind, what it does, seconds since the first event, and the decision: the number of the
    `llm_response` of a model call, None for other events and for calls without one.
    """
    began = trace.events[0].ts
    shown = trace.events[first : None if limit is None else first + limit]
    rows: list[Json] = [
        [event.id, visible(event.type), _shown(gist(event), GIST), round(event.ts - began, 3), _decision(trace, event)]
        for event in shown
    ]
    return {"rows": rows}


def _decision(trace: Trace, event: Event) -> int | None:
    call = trace.call(event) if event.type in {"llm_request", "llm_response"} else None
    return None if call is None or call.response is None else call.response.id


def event_fields(event: Event) -> JsonObject:
    """What one event holds."""
    text = visible(body(event))
    return {
        "id": event.id,
        "type": visible(event.type),
        "parent": event.parent,
        "text": shorten(text, BODY),
    }


def decision_fields(trace: Trace, response: int, reports: Reports, contexts: Contexts | None = None) -> JsonObject:
    """The context of the decision in an `llm_response`, with the report that there is on it.

    `problem` says why there is no context. Whoever asks for many decisions makes their `contexts` once.
    """
    call = trace.call(response)
    if call is None or call.response is None:
        return {"event": response, "problem": f"Event {response} is no reply of a model.", "messages": []}
    moment = Moment(call.request, call.response, None, None)
    try:
        context = (contexts or Contexts(trace)).at(moment)
    except RuntapeError as error:
        return {"event": response, "problem": visible(str(error)), "messages": []}
    facts = context_fields(trace.name, moment, context)
    about: JsonObject = {
        "request": moment.request.id,
        "model": None if facts["model"] is None else visible(str(facts["model"])),
        "tools": [visible(str(name)) for name in facts["tools"]] if isinstance(facts["tools"], list) else [],
    }
    report = reports.get(response)
    if report is not None:
        return {**about, **view_fields(report, context, _SHOW), "event": response, "report": True}
    drawn = draw(context, NOTHING_KNOWN, _SHOW)
    return {**about, "event": response, "messages": drawn.messages, "cut": drawn.cut, "report": False}


def found_fields(trace: Trace, term: str) -> JsonObject:
    """Where a text stands, in the order in which it came into the run: the first is where it entered."""
    found: list[Json] = [
        {
            "event": one.passage.event,
            "writer": _said(writer(one.passage)),
            "places": len(one.places),
            "around": one.places[0].around,
        }
        for one in search(trace, term)
    ]
    return {"found": found}


def whole_fields(
    trace: Trace, reports: Reports, most: int = MESSAGES, on_part: Callable[[], None] = lambda: None
) -> JsonObject:
    """All of a run under the names by which the page asks for its parts, to be held by one file.

    Texts that several contexts share are kept once, in `messages`. A context is told by what it shares with another:
    its `messages` are the event of that one (or null), how many of its messages come first, and the indexes of the
    others. Contexts that do not fit into `most` messages say so in `problem`, and `left_out` counts them. `on_part` is
    called for each event and for each decision.
    """
    decisions = [call.response.id for call in trace.calls if call.response is not None]
    contexts, pool = Contexts(trace), _Pool()
    held: JsonObject = {"timeline": timeline_fields(trace, reports)}
    for event in trace.events:
        held[f"event/{event.id}"] = event_fields(event)
        on_part()
    room, kept = most, 0
    for response in [*reports, *(one for one in reversed(decisions) if one not in reports)]:
        on_part()
        if room <= 0:
            held[f"context/{response}"] = _not_held(response, kept, len(decisions))
            continue
        fields = decision_fields(trace, response, reports, contexts)
        drawn = fields["messages"]
        messages = drawn if isinstance(drawn, list) else []
        room -= len(messages) + EACH
        kept += 1
        held[f"context/{response}"] = {**fields, "messages": pool.add(response, messages)}
    held["messages"] = pool.messages
    held["left_out"] = len(decisions) - kept
    held["passages"] = [[one.event, _said(writer(one)), visible(one.text)] for one in passages(trace)]
    return held


class _Pool:
    """The messages of many contexts, each kept once."""

    def __init__(self) -> None:
        self.messages: list[Json] = []
        self._places: dict[str, int] = {}
        self._last: tuple[int | None, list[int]] = (None, [])

    def add(self, response: int, messages: list[Json]) -> list[Json]:
        """A context, told by what it has in common with the one before."""
        places = [self._place(message) for message in messages]
        before, known = self._last
        pairs = enumerate(zip(places, known, strict=False))
        same = next((at for at, (one, other) in pairs if one != other), min(len(places), len(known)))
        self._last = (response, places)
        return [before if same else None, same, [*places[same:]]]

    def _place(self, message: Json) -> int:
        key = repr(message)
        if key not in self._places:
            self._places[key] = len(self.messages)
            self.messages.append(message)
        return self._places[key]


def _not_held(response: int, kept: int, decisions: int) -> JsonObject:
    said = f"This file has room for the contexts of {kept:,} of {decisions:,} decisions, and this is not one of them."
    return {"event": response, "problem": f"{said} Open the run with runtape view to see it.", "messages": []}


def _shown(text: str, limit: int) -> str:
    return shorten(visible(text[: 4 * limit]) if len(text) > 4 * limit else visible(text), limit)


def _said(line: Line) -> str:
    return "".join(visible(part.text) if isinstance(part, Recorded) else part for part in line)
