"""Messages as frameworks and tracers spell them, in the shape of chat completions.

Known: chat messages, LangChain's dumps, `{role, parts}` of OpenTelemetry's GenAI convention, the AI SDK's prompt.
Blocks of a provider's own (text, images, thinking) stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from ..canon import dumps
from ..wire.bodies import objects
from ..wire.reading import members
from ..wire.values import Json, JsonObject
from .unpacked import unpacked

_ROLES: Final = {
    "human": "user",
    "humanmessage": "user",
    "humanmessagechunk": "user",
    "ai": "assistant",
    "aimessage": "assistant",
    "aimessagechunk": "assistant",
    "model": "assistant",
    "systemmessage": "system",
    "toolmessage": "tool",
    "functionmessage": "tool",
    "function": "tool",
    "generic": "user",
}


@dataclass(slots=True)
class Heard:
    """What a list of messages says."""

    messages: list[JsonObject] = field(default_factory=list[JsonObject])
    tools: list[Json] = field(default_factory=list["Json"])
    """Definitions of tools that stood among the messages."""
    lost: set[str] = field(default_factory=set[str])
    """Parts that could not be kept."""


def heard(values: Iterable[Json]) -> Heard:
    """The messages in chat completions' shape."""
    found = Heard()
    for value in values:
        for message in _message(value, found):
            found.messages.append(message)
    return found


def _message(value: Json, found: Heard) -> Iterator[JsonObject]:
    value = unpacked(value)
    if isinstance(value, str):
        yield {"role": "user", "content": value}
        return
    if isinstance(value, list):
        for item in value:
            yield from _message(item, found)
        return
    if not isinstance(value, dict):
        return
    told = _langchain(value)
    role = _role(told)
    if isinstance(told.get("parts"), list):
        yield from _of_parts(role, told, found)
        return
    content = told.get("content")
    definition = _definition(content) if role == "tool" and not told.get("tool_call_id") else None
    if definition is not None:
        found.tools.append(definition)
        return
    calls = _calls(told)
    if isinstance(content, list) and any(_sdk_kind(part) for part in content):
        parts: list[Json] = [_sdk_part(members(part)) for part in content]
        yield from _of_parts(role, {**told, "parts": parts}, found)
        return
    kept: JsonObject = {"role": role, "content": _without_calls(content, calls, found)}
    if role == "tool":
        kept["tool_call_id"] = told.get("tool_call_id") or told.get("id")
        kept["content"] = content if isinstance(content, (str, list)) else dumps(content).decode()
        if told.get("status") == "error":
            kept["is_error"] = True
    if calls:
        kept["tool_calls"] = calls
        kept["content"] = kept["content"] or None  # frameworks keep an empty text where the API had none
    thinking = [dict(block) for _, block in objects(content) if block.get("type") in _THINKING]
    if thinking and calls:
        kept["thinking_blocks"] = [*thinking]
    for key in ("name", "refusal", "reasoning_content", "function_call"):
        if told.get(key) is not None and (key != "name" or role != "tool"):
            kept[key] = told[key]
    yield kept


_THINKING: Final = ("thinking", "redacted_thinking")


def _langchain(value: JsonObject) -> JsonObject:
    """A message of LangChain's as one object; any other one as it is."""
    for key in ("kwargs", "data"):
        inner = value.get(key)
        if isinstance(inner, dict) and "content" in inner:
            kind = value.get("id")
            named = kind[-1] if isinstance(kind, list) and kind else value.get("type")
            return {**inner, "type": inner.get("type") or named}
    return value


def _role(told: JsonObject) -> str:
    for key in ("role", "type"):
        role = told.get(key)
        if isinstance(role, str) and role:
            return _ROLES.get(role.lower(), role.lower())
    return "user"


def _definition(content: Json) -> Json:
    """The definition of a tool that stands in place of a message; None when it is none."""
    value = unpacked(content)
    if isinstance(value, str) and value.lstrip()[:1] == "{" and "function" in value:
        value = unpacked(value, printed=True)  # as LangChain's handlers print a dict
    if (
        isinstance(value, dict)
        and value.get("type") == "function"
        and "name" in members(value.get("function") or value)
    ):
        return value
    return None


def _calls(told: JsonObject) -> list[Json]:
    """Tool calls in the shape of chat completions."""
    given = told.get("tool_calls") or members(told.get("additional_kwargs")).get("tool_calls")
    calls = [_call(call) for _, call in objects(unpacked(given))]
    for _, bad in objects(told.get("invalid_tool_calls")):
        calls.append(_call({"id": bad.get("id"), "name": bad.get("name"), "arguments": bad.get("args")}))
    return [*calls]


_NO_ARGUMENTS: Final[Json] = {}


def _call(call: JsonObject) -> JsonObject:
    inner = members(call.get("tool_call")) or call
    function = members(inner.get("function")) or inner
    arguments = next((function[key] for key in ("arguments", "args", "input") if key in function), _NO_ARGUMENTS)
    named = function.get("name") or inner.get("toolName")
    identity = inner.get("id") or inner.get("toolCallId") or inner.get("call_id")
    kept: JsonObject = {} if not identity else {"id": identity}
    spelled = arguments if isinstance(arguments, str) else dumps(arguments).decode()
    return {**kept, "type": "function", "function": {"name": named, "arguments": spelled}}


def _without_calls(content: Json, calls: list[Json], found: Heard) -> Json:
    """The content without blocks that repeat a tool call, and without thinking beside one (it is kept apart)."""
    if not isinstance(content, list) or not calls:
        return content
    kept: list[Json] = [
        block
        for block in content
        if members(block).get("type") not in ("tool_use", "function_call", "tool_call", *_THINKING)
    ]
    if any(members(block).get("type") in ("reasoning", "reasoning_content") for block in kept):
        found.lost.add("reasoning")
        kept = [block for block in kept if members(block).get("type") not in ("reasoning", "reasoning_content")]
    return kept or None


_SDK: Final = {"tool-call": "tool_call", "tool-result": "tool_call_response"}


def _sdk_kind(part: Json) -> bool:
    told = members(part)
    kind = told.get("type")
    media = kind in ("image", "file") and not told.keys().isdisjoint({"image", "mediaType", "mimeType"})
    return kind in _SDK or media


def _sdk_part(part: JsonObject) -> JsonObject:
    """A part of the AI SDK's prompt in the GenAI convention's words."""
    kind = part.get("type")
    if kind == "tool-call":
        arguments = part.get("input", part.get("args"))
        return {"type": "tool_call", "id": part.get("toolCallId"), "name": part.get("toolName"), "arguments": arguments}
    if kind == "tool-result":
        output = part.get("output", part.get("result"))
        wrapped = members(output)
        inner = wrapped["value"] if wrapped.keys() == {"type", "value"} else output
        return {"type": "tool_call_response", "id": part.get("toolCallId"), "response": inner}
    if kind in ("image", "file"):
        data, media = part.get("image", part.get("data")), part.get("mediaType", part.get("mimeType", "image/png"))
        if isinstance(data, str) and data.startswith(("http", "data:")):
            return {"type": "uri", "uri": data}
        return {"type": "blob", "mime_type": media, "content": data}
    return {"type": kind, "content": part.get("text")} if kind in ("text", "reasoning") else part


def _of_parts(role: str, told: JsonObject, found: Heard) -> Iterator[JsonObject]:
    content: list[Json] = []
    calls: list[Json] = []
    results: list[JsonObject] = []
    for _, part in objects(told.get("parts")):
        kind = part.get("type", "text" if "text" in part or "content" in part else None)
        if kind == "text":
            content.append({"type": "text", "text": part.get("content", part.get("text"))})
        elif kind == "tool_call":
            calls.append(_call(part))
        elif kind == "tool_call_response":
            results.append(_result(part))
        elif kind in ("reasoning", "thinking"):
            found.lost.add("reasoning")
        elif kind in ("blob", "uri") and (media := _media(part, found)) is not None:
            content.append(media)
        elif kind not in ("blob", "uri"):
            found.lost.add(f"content of type {kind}" if isinstance(kind, str) else "content")
    if not told.get("parts"):
        found.lost.add("content of a message")
    texts = [members(part)["text"] for part in content if members(part).get("type") == "text"]
    whole: Json = (texts[0] if texts else None) if len(texts) == len(content) <= 1 else content
    yield from results
    if calls:
        yield {"role": role, "content": whole, "tool_calls": calls}
    elif content or not results:
        yield {"role": role, "content": whole if whole is not None else ""}


def _result(part: JsonObject) -> JsonObject:
    response = next((part[key] for key in ("response", "result", "content") if part.get(key) is not None), "")
    text = response if isinstance(response, str) else dumps(response).decode()
    return {"role": "tool", "tool_call_id": part.get("id"), "content": text}


_AUDIO: Final = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}


def _media(part: JsonObject, found: Heard) -> JsonObject | None:
    """An image or a sound; None, and told of as lost, for what chat completions have no place for."""
    mime, modality = part.get("mime_type"), part.get("modality")
    kind = modality if isinstance(modality, str) else str(mime or "image").partition("/")[0]
    if kind == "image":
        return _image(part, found)
    data, spelled = part.get("content", part.get("data")), _AUDIO.get(str(mime))
    if kind == "audio" and spelled is not None and isinstance(data, str):
        return {"type": "input_audio", "input_audio": {"data": data, "format": spelled}}
    found.lost.add(f"content of type {kind}")
    return None


def _image(part: JsonObject, found: Heard) -> JsonObject:
    if part.get("type") == "uri":
        return {"type": "image_url", "image_url": {"url": part.get("uri")}}
    data, media = part.get("content", part.get("data")), part.get("mime_type", "image/png")
    if not isinstance(data, str):
        found.lost.add("images")
        return {"type": "text", "text": "[an image that the source does not hold]"}
    return {"type": "image_url", "image_url": {"url": f"data:{media};base64,{data}"}}
