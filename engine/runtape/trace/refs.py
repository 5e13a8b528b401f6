"""The model call that a number, a tool's name or `last` means."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import EventNotFound, NotADecision
from ..text import shorten
from .calls import asked_in, nearest, tool_of
from .events import Event
from .trace import Trace

_TOOL = "tool:"
_NAMED = 12
"""Names listed in an error message."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One recorded decision of a model."""

    request: Event
    response: Event
    tool: str | None
    """The tool whose call was referred to; None when the model call itself was."""
    tool_call: Event | None
    """The event of that tool's run; None when it was not recorded."""
    result: Event | None = None
    """What the tool returned, where that event was referred to."""


def resolve(trace: Trace, event: int | str) -> Moment:
    """The decision behind a reference.

    Args:
        trace: The run.
        event: The number of any event of a model call (request, reply, a tool run that the reply asked for, its
            result), as a number or in text; `tool:NAME` for the last call of that tool; `last` for the last reply.

    Raises:
        EventNotFound: there is no such event, or no such tool was called.
        NotADecision: the event belongs to no model call with a reply.
    """
    if isinstance(event, int):
        return _of_event(trace, trace.event(event))
    text = event.strip()
    if text.isascii() and text.isdigit() and len(text) < 17:
        return _of_event(trace, trace.event(int(text)))
    if text.startswith(_TOOL):
        return _of_tool(trace, text[len(_TOOL) :].strip())
    if text == "last":
        return _last(trace)
    hint = f"; for the tool write {_TOOL + text!r}" if text in _called(trace) else ""
    raise EventNotFound(
        f"{shorten(event, 80)!r} names no event: give a number up to {trace.events[-1].id}, "
        f"'{_TOOL}NAME' or 'last'{hint}"
    )


def _last(trace: Trace) -> Moment:
    for call in reversed(trace.calls):
        if call.response is not None:
            return Moment(call.request, call.response, None, None)
    raise NotADecision(f"trace {trace.name!r} holds {len(trace.calls)} model calls, and no reply to any of them")


def _of_event(trace: Trace, event: Event) -> Moment:
    if event.type in ("llm_request", "llm_response"):
        return _moment(trace, event)
    run = _run_of(trace, event)
    if run is None:
        raise NotADecision(
            f"event {event.id} is a {shorten(event.type, 40)} event and belongs to no model call; "
            f"{nearest(trace.calls, event.id)}"
        )
    reply = _asking(trace, run)
    if reply is None:
        raise NotADecision(
            f"event {event.id} ran the tool {tool_of(run)!r}, but no recorded reply asked for it; "
            f"{nearest(trace.calls, event.id)}"
        )
    return _moment(trace, reply, tool_of(run), run, event if event is not run else None)


def _moment(
    trace: Trace, event: Event, tool: str | None = None, tool_call: Event | None = None, result: Event | None = None
) -> Moment:
    call = trace.call(event)
    if call is None:
        raise NotADecision(f"event {event.id} is a reply, but its request is not in this trace")
    if call.response is None:
        raise NotADecision(f"the model call of event {event.id} has no recorded reply, so there is no decision in it")
    return Moment(call.request, call.response, tool, tool_call, result)


def _of_tool(trace: Trace, name: str) -> Moment:
    for event in reversed(trace.events):
        if event.type == "tool_call" and tool_of(event) == name:
            reply = _asking(trace, event)
            if reply is not None:
                return _moment(trace, reply, name, event)
    for call in reversed(trace.calls):
        # Tools that the recorder did not run are known from the replies that asked for them.
        if call.response is not None and any(asked.name == name for asked in asked_in(call.response)):
            return Moment(call.request, call.response, name, None)
    called = _called(trace)
    if not called:
        raise EventNotFound(f"no tool was called in trace {trace.name!r}; give an event number or 'last'")
    near = difflib.get_close_matches(name, called, n=1)
    hint = f"; did you mean {_TOOL + near[0]!r}?" if near else ""
    raise EventNotFound(f"no reply in trace {trace.name!r} called {name!r}; called were {_listed(called)}{hint}")


def _run_of(trace: Trace, event: Event) -> Event | None:
    """The `tool_call` event that an event is or belongs to."""
    if event.type == "tool_call":
        return event
    if event.type != "tool_result" or event.parent is None:
        return None
    return next((run for run in trace.events if run.id == event.parent and run.type == "tool_call"), None)


def _asking(trace: Trace, run: Event) -> Event | None:
    """The reply that asked for a tool run: the one it names, else the last one with its call id, else with its name."""
    requested_by = run.meta.get("requested_by")
    replies = [call.response for call in trace.calls if call.response is not None and call.response.id < run.id]
    for reply in replies:
        if reply.id == requested_by:
            return reply
    name, call_id = tool_of(run), run.payload.get("call_id")
    if isinstance(call_id, str) and call_id:
        for reply in reversed(replies):
            if any(asked.call_id == call_id and asked.name == name for asked in asked_in(reply)):
                return reply
    return next((reply for reply in reversed(replies) if any(asked.name == name for asked in asked_in(reply))), None)


def _called(trace: Trace) -> tuple[str, ...]:
    return trace.summary().tools


def _listed(names: Iterable[str]) -> str:
    told = [repr(shorten(name, 60)) for name in names]
    more = f" and {len(told) - _NAMED} more" if len(told) > _NAMED else ""
    return ", ".join(told[:_NAMED]) + more
