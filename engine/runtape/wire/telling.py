"""A reply as the fields of an `llm_response` that tell of it beside its body."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from .values import Json, JsonObject, Reply, ToolCall

OUR_ID: Final = "runtape:"
"""How the id of a tool call begins that the provider sent without one."""


@dataclass(frozen=True, slots=True)
class Told:
    """Parts of an event."""

    payload: JsonObject
    """`text`, `tool_calls`, `stop_reason`; `refusal` where there is one."""
    meta: JsonObject
    """`model`, `tokens` where the reply names them."""
    tool_calls: tuple[ToolCall, ...]
    """The calls, each with an id."""


def told_of(reply: Reply) -> Told:
    """What an event tells of a reply."""
    calls = identified(reply.tool_calls)
    payload: JsonObject = {
        "text": reply.text,
        "tool_calls": [_call(call) for call in calls],
        "stop_reason": reply.stop_reason,
    }
    if reply.refusal is not None:
        payload["refusal"] = reply.refusal
    meta: JsonObject = {} if reply.model is None else {"model": reply.model}
    usage: dict[str, int | None] = {
        "input": reply.usage.input,
        "output": reply.usage.output,
        "cached": reply.usage.cached,
    }
    tokens: JsonObject = {name: count for name, count in usage.items() if count is not None}
    if tokens:
        meta["tokens"] = tokens
    return Told(payload, meta, calls)


def identified(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """Every call with an id, so that a tool run can name it; one of our own is marked as such."""
    return tuple(call if call.id else replace(call, id=f"{OUR_ID}{index}") for index, call in enumerate(calls))


def _call(call: ToolCall) -> Json:
    # Arguments that are not JSON stand as the text that was sent.
    return {"id": call.id, "name": call.name, "arguments": call.text if call.arguments is None else call.arguments}
