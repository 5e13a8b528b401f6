"""Model calls that the program reports itself, as event content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..jsonable import jsonable
from ..wire.dialects import logged_reply
from ..wire.values import Json, JsonObject, Parts, ToolCall


def request_parts(
    model: str | None, messages: Iterable[Any], system: Any, tools: Any, params: Mapping[str, Any] | None
) -> Parts:
    """A request out of the pieces that the program gave; Python objects among them become JSON.

    One text in place of messages is what the user said.
    """
    said = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    kept = jsonable(dict(params or {}))
    return Parts(
        model=model,
        system=jsonable(system),
        messages=[jsonable(message) for message in said],
        tools=jsonable(tools),
        params=kept if isinstance(kept, dict) else {},
    )


def reply(
    text: str | None, tool_calls: Iterable[Mapping[str, Any]], stop_reason: str | None, raw: object
) -> JsonObject:
    """The payload of an `llm_response`."""
    calls: list[Json] = [jsonable(call) for call in tool_calls]
    return {"text": jsonable(text), "tool_calls": calls, "stop_reason": jsonable(stop_reason), "raw": jsonable(raw)}


def wanted(payload: JsonObject) -> tuple[ToolCall, ...]:
    """The tool calls in the payload, which later tool runs may answer.

    Raises:
        UnreadableReply: one of them has no name.
    """
    calls = payload["tool_calls"]
    return logged_reply(None, calls if isinstance(calls, list) else [], None).tool_calls
