"""Chat-completions messages in the shape of another API, for sources with a shape of their own.

`thinking_blocks` of an assistant's message are Anthropic's blocks, `is_error` of a tool's its mark of a failed run;
other APIs take neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..wire.bodies import listed, objects
from ..wire.reading import members, parsed
from ..wire.values import Json, JsonObject

_ANTHROPIC_ONLY: Final = ("thinking_blocks", "is_error")


def shaped(api: str, messages: list[JsonObject]) -> JsonObject:
    """The keys of a request body of `api` that hold `messages`."""
    if api == "messages":
        return _anthropic(messages)
    if api == "responses":
        return {"input": [item for message in messages for item in _items(message)]}
    return {"messages": [_chat(message) for message in messages]}


def output_items(message: JsonObject) -> list[Json]:
    """An assistant's message as the output of a response."""
    said = message.get("content")
    texts: list[Json] = [said] if isinstance(said, str) else [part.get("text") for _, part in objects(said)]
    parts: list[Json] = [{"type": "output_text", "text": text} for text in texts if text]
    calls = _items({**message, "content": None})
    told: JsonObject = {"type": "message", "role": "assistant", "status": "completed", "content": parts}
    return [*([told] if parts else []), *calls]


def _chat(message: JsonObject) -> JsonObject:
    return {key: value for key, value in message.items() if key not in _ANTHROPIC_ONLY}


def _anthropic(messages: list[JsonObject]) -> JsonObject:
    system: list[Json] = []
    turns: list[Json] = []
    for message in messages:
        role = message.get("role")
        if role in ("system", "developer"):
            system += _blocks(message.get("content"))
            continue
        sender = "assistant" if role == "assistant" else "user"
        blocks = list(_anthropic_blocks(message))
        last = members(turns[-1]) if turns else {}
        if last.get("role") == sender == "user":  # the results of parallel calls are one message
            turns[-1] = {"role": sender, "content": [*listed(last.get("content")), *blocks]}
        else:
            turns.append({"role": sender, "content": blocks})
    return {"system": system, "messages": turns} if system else {"messages": turns}


def _anthropic_blocks(message: JsonObject) -> Iterator[Json]:
    if message.get("role") in ("tool", "function"):
        result: JsonObject = {"type": "tool_result", "tool_use_id": message.get("tool_call_id")}
        yield {**result, "content": list(_blocks(message.get("content"))), "is_error": message.get("is_error") is True}
        return
    yield from listed(message.get("thinking_blocks"))
    yield from _blocks(message.get("content"))
    for _, call in objects(message.get("tool_calls")):
        function = members(call.get("function"))
        text = function.get("arguments")
        value = parsed(text) if isinstance(text, str) else text
        use: JsonObject = {"type": "tool_use", "id": call.get("id"), "name": function.get("name")}
        yield {**use, "input": {} if value is None else value}


def _blocks(content: Json) -> Iterator[Json]:
    if isinstance(content, str):
        if content:
            yield {"type": "text", "text": content}
        return
    for part in listed(content):
        image = members(members(part).get("image_url")).get("url")
        yield _image(image) if isinstance(image, str) else part


def _image(url: str) -> JsonObject:
    kind, comma, data = url.partition(";base64,")
    if comma and kind.startswith("data:"):
        return {"type": "image", "source": {"type": "base64", "media_type": kind[5:], "data": data}}
    return {"type": "image", "source": {"type": "url", "url": url}}


def _items(message: JsonObject) -> Iterator[Json]:
    role = message.get("role")
    if role in ("tool", "function"):
        output = message.get("content")
        yield {"type": "function_call_output", "call_id": message.get("tool_call_id"), "output": output}
        return
    content = message.get("content")
    if content:
        yield {"role": role, "content": content if isinstance(content, str) else [*map(_input_part, listed(content))]}
    for _, call in objects(message.get("tool_calls")):
        function = members(call.get("function"))
        named: JsonObject = {"type": "function_call", "call_id": call.get("id"), "name": function.get("name")}
        yield {**named, "arguments": function.get("arguments")}


def _input_part(part: Json) -> Json:
    told = members(part)
    image = members(told.get("image_url")).get("url")
    if isinstance(image, str):
        detail = members(told.get("image_url")).get("detail", "auto")
        return {"type": "input_image", "image_url": image, "detail": detail}
    return {"type": "input_text", "text": told.get("text")} if told.get("type") == "text" else part
