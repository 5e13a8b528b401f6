"""Model calls that the program reports itself, as event content.

Whatever stands where something else was expected is kept as JSON, so that the event is there to be looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..jsonable import jsonable
from ..wire.dialect import UnreadableReply
from ..wire.dialects import logged_reply
from ..wire.values import Json, JsonObject, Parts, ToolCall


def facts(provider: object, api: object, endpoint: object) -> JsonObject:
    """What a request event says about where the call went."""
    told: JsonObject = {"provider": _text(provider), "api": _text(api)}
    if endpoint is not None:
        told["endpoint"] = _text(endpoint)
    return told


def request_parts(
    model: str | None, messages: Iterable[Any], system: Any, tools: Any, params: Mapping[str, Any] | None
) -> Parts:
    """A request out of the pieces that the program gave; Python objects among them become JSON.

    One text in place of messages is what the user said.
    """
    said = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    kept = jsonable(params)
    return Parts(
        model=None if model is None else _text(model),
        system=jsonable(system),
        messages=_items(said),
        tools=jsonable(tools),
        params=kept if isinstance(kept, dict) else {} if kept is None else {"params": kept},
    )


def reply(text: object, tool_calls: object, stop_reason: object, raw: object) -> JsonObject:
    """The payload of an `llm_response`."""
    return {
        "text": jsonable(text),
        "tool_calls": _items(tool_calls),
        "stop_reason": jsonable(stop_reason),
        "raw": jsonable(raw),
    }


def number(event: object, payload: JsonObject) -> int | None:
    """The event number that the program gave; anything else is kept in the payload."""
    if isinstance(event, int) and not isinstance(event, bool) and -1 <= event < _LARGEST:
        return event
    payload["request_id"] = jsonable(event)
    return None


def wanted(payload: JsonObject) -> tuple[ToolCall, ...]:
    """The tool calls in the payload, which later tool runs may answer; none when one of them has no name."""
    calls = payload["tool_calls"]
    try:
        return logged_reply(None, calls if isinstance(calls, list) else [], None).tool_calls
    except UnreadableReply:
        return ()


_LARGEST = 2**53
_MOST = 100_000


def _text(value: object) -> str:
    kept = jsonable(value)
    return kept if isinstance(kept, str) else str(kept)


def _is_many(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))


def _items(value: Any) -> list[Json]:
    """The elements of a list, a tuple or what else can be gone through; one thing that is no list stands alone."""
    if value is None:
        return []
    if not _is_many(value):
        return [jsonable(value)]
    kept: list[Json] = []
    try:
        for item in value:
            if len(kept) >= _MOST:
                kept.append(f"<cut: more than {_MOST} elements>")
                break
            kept.append(jsonable(item))
    except Exception as error:  # noqa: BLE001 -- the program's own iterator
        kept.append(f"<the rest could not be read: {type(error).__name__}>")
    return kept
