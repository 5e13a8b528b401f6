"""Events and contexts as plain text: recorded words throughout, before anything shows or fences them."""

from __future__ import annotations

import json

from ..trace.events import Event
from ..wire.values import Json, JsonObject

_LEFT_OUT = {"llm_request": {"base"}, "llm_response": {"raw", "stream"}}
"""Fields that repeat others, by type of event: the response as it came, the request that a request continues."""

DEEPEST = 60
"""Levels of an outline; what is nested deeper was made to be deep."""


def body(event: Event) -> str:
    """What an event holds, as an indented outline; texts stand as they are."""
    repeating = _LEFT_OUT.get(event.type, frozenset[str]())
    payload: JsonObject = {key: value for key, value in event.payload.items() if key not in repeating and value != []}
    if event.type == "llm_request" and isinstance(payload.get("tools"), list):
        payload = {**payload, "tools": tool_names(payload["tools"])}
    return outline(payload)


def gist(event: Event) -> str:
    """What an event does, in one line."""
    payload = event.payload
    match event.type:
        case "tool_call":
            return f"{payload.get('name')} {_compact(payload.get('arguments'))}"
        case "tool_result":
            return f"{payload.get('name')}: {_flat(payload.get('result', payload.get('error')))}"
        case "llm_response":
            calls = payload.get("tool_calls")
            named = "; ".join(
                f"calls {call.get('name')} {_compact(call.get('arguments'))}"
                for call in (calls if isinstance(calls, list) else [])
                if isinstance(call, dict)
            )
            failed = payload.get("error")
            said = (named, _flat(payload.get("text") or ""), "" if failed is None else f"failed: {_flat(failed)}")
            return " ".join(part for part in said if part)
        case "llm_request":
            new = payload.get("messages_append", payload.get("messages"))
            count = len(new) if isinstance(new, list) else 0
            return f"{payload.get('model')}, {count} new messages"
        case "run_start":
            return _flat(payload.get("name") or payload)
        case "log":
            rest: JsonObject = {key: value for key, value in payload.items() if key != "message"}
            return " ".join(part for part in (_flat(payload.get("message")), _flat(rest) if rest else "") if part)
        case _:
            return _flat(payload)


def outline(value: Json, depth: int = 0) -> str:
    """A value as indented lines: `key: value`, `- item`."""
    pad = "  " * depth
    if depth > DEEPEST and isinstance(value, dict | list) and value:
        return f"{pad}(deeper levels are not shown)"
    match value:
        case dict() if value:
            return "\n".join(_entry(f"{pad}{key}:", item, depth) for key, item in value.items())
        case list() if value:
            return "\n".join(_entry(f"{pad}-", item, depth) for item in value)
        case str():
            return "\n".join(f"{pad}{line}" for line in value.split("\n"))
        case _:
            return f"{pad}{json.dumps(value)}"


def tool_names(tools: Json) -> Json:
    """The names of declared tools, in any provider's shape; their schemas are long and seldom asked for."""
    if not isinstance(tools, list):
        return tools
    return [_declared(tool) for tool in tools]


def _entry(label: str, item: Json, depth: int) -> str:
    if isinstance(item, dict | list) and item:
        return f"{label}\n{outline(item, depth + 1)}"
    if isinstance(item, str):
        if "\n" not in item:
            return f"{label} {item}"
        return f"{label}\n{outline(item, depth + 1)}"
    return f"{label} {json.dumps(item)}"


def _declared(tool: Json) -> Json:
    if isinstance(tool, dict):
        inner = tool.get("function", tool)
        if isinstance(inner, dict):
            return inner.get("name", tool.get("type"))
    return tool


def _compact(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _flat(value: Json) -> str:
    return " ".join((value if isinstance(value, str) else outline(value)).split())
