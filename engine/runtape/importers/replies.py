"""A reply told as a chat message, as the response body of any API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..wire.bodies import listed, objects
from ..wire.reading import members, parsed
from ..wire.values import Json, JsonObject

_CHAT: Final = {"tool_call": "tool_calls", "tool-calls": "tool_calls", "tool_use": "tool_calls", "end_turn": "stop"}
_ANTHROPIC: Final = {
    "tool_call": "tool_use",
    "tool_calls": "tool_use",
    "tool-calls": "tool_use",
    "stop": "end_turn",
    "length": "max_tokens",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice of a reply."""

    message: JsonObject
    """In the shape of chat completions."""
    finish: Json = None
    """In any dialect."""


def reply_body(
    api: str,
    first: Choice,
    *others: Choice,
    model: Json = None,
    id: Json = None,
    usage: JsonObject | None = None,
) -> JsonObject:
    """The body of a response of `api`; only chat completions have room for more than one answer."""
    message = first.message
    head: JsonObject = {key: value for key, value in (("id", id), ("model", model)) if isinstance(value, str)}
    said = _said(first)
    tokens: JsonObject = {"usage": usage} if usage else {}
    if api == "messages":
        reason: Json = None if said is None else _ANTHROPIC.get(said, said)
        told: JsonObject = {"type": "message", "role": "assistant", "content": _blocks(message), "stop_reason": reason}
        return {**head, **told, **tokens}
    if api == "responses":
        status = "incomplete" if said == "length" else "completed"
        items: JsonObject = {"object": "response", "status": status, "output": _items(message)}
        return {**head, **items, **tokens}
    choices: list[Json] = [_choice(index, answer) for index, answer in enumerate((first, *others))]
    return {**head, "object": "chat.completion", "choices": choices, **tokens}


def _said(answer: Choice) -> str | None:
    if isinstance(answer.finish, str):
        return answer.finish
    return "tool_calls" if answer.message.get("tool_calls") else None


def _choice(index: int, answer: Choice) -> JsonObject:
    message = {key: value for key, value in answer.message.items() if key != "thinking_blocks"}
    said = _said(answer)
    reason = None if said is None else _CHAT.get(said, said)
    return {"index": index, "message": {**message, "role": "assistant"}, "finish_reason": reason}


def usage_of(api: str, input: Json, output: Json) -> JsonObject:
    """Tokens in the words of an API."""
    names = ("prompt_tokens", "completion_tokens") if api == "chat.completions" else ("input_tokens", "output_tokens")
    counts = zip(names, (input, output), strict=True)
    return {name: int(count) for name, count in counts if isinstance(count, (int, float))}


def _texts(message: JsonObject) -> list[str]:
    content = message.get("content")
    if isinstance(content, str):
        return [content] if content else []
    told = [block.get("text") for _, block in objects(content)]
    return [text for text in told if isinstance(text, str) and text]


def _blocks(message: JsonObject) -> list[Json]:
    blocks: list[Json] = [*listed(message.get("thinking_blocks"))]
    blocks.extend({"type": "text", "text": text} for text in _texts(message))
    for _, call in objects(message.get("tool_calls")):
        function = members(call.get("function"))
        given = function.get("arguments")
        value = parsed(given) if isinstance(given, str) else given
        blocks.append({"type": "tool_use", "id": call.get("id"), "name": function.get("name"), "input": value or {}})
    return blocks


def _items(message: JsonObject) -> list[Json]:
    items: list[Json] = [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text, "annotations": []}]}
        for text in _texts(message)
    ]
    for _, call in objects(message.get("tool_calls")):
        function = members(call.get("function"))
        item: JsonObject = {"type": "function_call", "name": function.get("name")}
        items.append({**item, "call_id": call.get("id"), "arguments": function.get("arguments")})
    return items
