"""A run as data for its page in `report.view`: the timeline, any event, the context of any decision, a search."""

from __future__ import annotations

from collections.abc import Mapping

from ..context.seen import seen
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
HELD = 300
"""Contexts in one file: those of explained decisions, then the last ones. Each costs a look at the whole run."""
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


def decision_fields(trace: Trace, response: int, reports: Reports) -> JsonObject:
    """The context of the decision in an `llm_response`, with the report that there is on it.

    `problem` says why there is no context.
    """
    call = trace.call(response)
    if call is None or call.response is None:
        return {"event": response, "problem": f"Event {response} is no reply of a model.", "messages": []}
    moment = Moment(call.request, call.response, None, None)
    try:
        context = seen(trace, moment)
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


def whole_fields(trace: Trace, reports: Reports) -> JsonObject:
    """All of a run under the names by which the page asks for its parts, to be held by one file.

    Texts that several contexts share are kept once: `messages`, and their indexes in each context. Of more than `HELD`
    decisions, those whose contexts are not in the file say so in `problem`.
    """
    decisions = [call.response.id for call in trace.calls if call.response is not None]
    drawn_too = {*reports, *decisions[-HELD:]}
    kept: dict[str, int] = {}
    messages: list[Json] = []
    held: JsonObject = {"timeline": timeline_fields(trace, reports)}
    for event in trace.events:
        held[f"event/{event.id}"] = event_fields(event)
    for response in decisions:
        if response not in drawn_too:
            held[f"context/{response}"] = _not_held(response, len(decisions))
            continue
        fields = decision_fields(trace, response, reports)
        drawn = fields["messages"]
        places: list[Json] = []
        for message in drawn if isinstance(drawn, list) else []:
            key = repr(message)
            if key not in kept:
                kept[key] = len(messages)
                messages.append(message)
            places.append(kept[key])
        held[f"context/{response}"] = {**fields, "messages": places}
    held["messages"] = messages
    held["passages"] = [[one.event, _said(writer(one)), visible(one.text)] for one in passages(trace)]
    return held


def _not_held(response: int, decisions: int) -> JsonObject:
    said = (
        f"This file holds the contexts of the last {HELD} of {decisions:,} decisions. Open the run with runtape view."
    )
    return {"event": response, "problem": said, "messages": []}


def _shown(text: str, limit: int) -> str:
    return shorten(visible(text[: 4 * limit]) if len(text) > 4 * limit else visible(text), limit)


def _said(line: Line) -> str:
    return "".join(visible(part.text) if isinstance(part, Recorded) else part for part in line)
