"""Model calls of a trace, paired up out of its events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..wire.values import Json
from .events import Event


@dataclass(frozen=True, slots=True)
class Call:
    """One model call."""

    request: Event
    response: Event | None
    """None when no reply was recorded. Of several the last one: earlier ones were failed attempts."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One tool call that a reply asked for."""

    name: str
    call_id: str | None


def calls_of(events: Iterable[Event]) -> list[Call]:
    """Every request with its reply, in file order."""
    requests: dict[int, Call] = {}
    for event in events:
        if event.type == "llm_request":
            requests[event.id] = Call(event, None)
        elif event.type == "llm_response" and event.parent in requests:
            requests[event.parent] = Call(requests[event.parent].request, event)
    return list(requests.values())


def asked_in(response: Event) -> Iterator[Asked]:
    """The tool calls that an `llm_response` lists, in order; entries without a name are passed over."""
    listed = response.payload.get("tool_calls")
    for call in listed if isinstance(listed, list) else ():
        name = call.get("name") if isinstance(call, dict) else None
        if isinstance(call, dict) and isinstance(name, str):
            call_id = call.get("id")
            yield Asked(name, call_id if isinstance(call_id, str) and call_id else None)


def tools_in(event: Event) -> Iterator[str]:
    """The tools that an event names: the one that ran, or those that a reply asked for."""
    if event.type == "tool_call":
        name = tool_of(event)
        if name:
            yield name
    elif event.type == "llm_response":
        yield from (asked.name for asked in asked_in(event) if asked.name)


def tool_of(event: Event) -> str | None:
    """The tool that a `tool_call` or `tool_result` event names."""
    name = event.payload.get("name")
    return name if isinstance(name, str) else None


def declared(tool: Json) -> str | None:
    """The name in the definition of a tool, in any provider's shape."""
    inner = tool.get("function", tool) if isinstance(tool, dict) else None
    name = inner.get("name") if isinstance(inner, dict) else None
    return name if isinstance(name, str) else None


def nearest(calls: Sequence[Call], event: int) -> str:
    """Words that name the model calls next to an event, for an error message."""
    before = [call.request.id for call in calls if call.request.id < event]
    after = [call.request.id for call in calls if call.request.id > event]
    told = [f"the one before it is event {before[-1]}"] if before else []
    told += [f"the one after it is event {after[0]}"] if after else []
    return ", ".join(told) or "this trace holds no request at all"
