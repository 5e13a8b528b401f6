"""Inspect AI's messages, tools and settings as chat completions spell them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..wire.bodies import objects
from ..wire.reading import members, text_or_none
from ..wire.values import Json, JsonObject
from .conversation import tool_call

_PARAMS: Final = {
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
    "logit_bias": "logit_bias",
    "num_choices": "n",
    "logprobs": "logprobs",
    "top_logprobs": "top_logprobs",
    "parallel_tool_calls": "parallel_tool_calls",
    "reasoning_effort": "reasoning_effort",
    "stop_seqs": "stop",
    "max_tokens": "max_tokens",
}
_ANTHROPIC: Final = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "stop_seqs": "stop_sequences",
    "max_tokens": "max_tokens",
}


@dataclass(frozen=True, slots=True)
class Told:
    """One message in another shape."""

    message: JsonObject
    loses: tuple[str, ...] = ()
    """What chat completions have no place for."""
    error: str | None = None
    """Of the tool whose result it is."""
    tool: str | None = None


def chat_message(message: JsonObject) -> Told:
    """A message of Inspect's in the shape of chat completions; reasoning goes along as Anthropic's blocks."""
    parts, thinking, loses = _content(message.get("content"))
    role = message.get("role")
    told: JsonObject = {"role": role, "content": parts}
    error = members(message.get("error"))
    if role == "tool":
        told["tool_call_id"] = message.get("tool_call_id")
        if error:
            told["content"] = error.get("message")  # what a model is sent in place of the result
    calls: list[Json] = [
        tool_call(call.get("id"), call.get("function"), call.get("arguments"))
        for _, call in objects(message.get("tool_calls"))
    ]
    if calls:
        told["tool_calls"] = calls
        told["content"] = parts or None
    if thinking:
        told["thinking_blocks"] = thinking
    return Told(told, loses, text_or_none(error.get("message")), text_or_none(message.get("function")))


def _content(content: Json) -> tuple[Json, list[Json], tuple[str, ...]]:
    if not isinstance(content, list):
        return content, [], ()
    parts: list[Json] = []
    thinking: list[Json] = []
    loses: list[str] = []
    for part in content:
        told = members(part)
        kind = told.get("type")
        if kind == "text":
            parts.append({"type": "text", "text": told.get("text")})
        elif kind == "image":
            image: JsonObject = {"url": told.get("image")}
            parts.append({"type": "image_url", "image_url": {**image, "detail": told.get("detail", "auto")}})
        elif kind == "reasoning":
            loses.append("reasoning")
            if told.get("signature") is not None:
                block: JsonObject = {"type": "thinking", "thinking": told.get("reasoning")}
                thinking.append({**block, "signature": told["signature"]})
        else:
            loses.append(f"content of type {kind}")
    texts = [text for _, part in objects(parts) if isinstance(text := part.get("text"), str)]
    # Inspect joins what stands around reasoning into the one text that it was.
    whole: Json = texts[0] if len(parts) == len(texts) == 1 else parts
    return whole, thinking, tuple(loses)


def tools_of(tools: Json) -> list[Json]:
    """Tool definitions in the shape of chat completions."""
    return [
        {
            "type": "function",
            "function": {key: tool[key] for key in ("name", "description", "parameters") if key in tool},
        }
        for _, tool in objects(tools)
    ]


def config_params(api: str, config: JsonObject, choice: Json) -> JsonObject:
    """The settings of a call as the API takes them; `choice` is None for a call without tools."""
    known = _ANTHROPIC if api == "messages" else _PARAMS
    params: JsonObject = {name: config[key] for key, name in known.items() if config.get(key) is not None}
    if api != "messages":
        response = members(config.get("response_schema"))
        if response:
            params["response_format"] = {"type": "json_schema", "json_schema": _schema(response)}
    if choice is not None:
        params["tool_choice"] = _choice(api, choice)
    return params


def _schema(response: JsonObject) -> JsonObject:
    schema: JsonObject = {key: response[key] for key in ("name", "description", "strict") if key in response}
    return {**schema, "schema": response.get("json_schema")}


def _choice(api: str, choice: Json) -> Json:
    named = members(choice).get("name")
    if api == "messages":
        return {"type": "tool", "name": named} if isinstance(named, str) else {"type": choice}
    if isinstance(named, str):
        return {"type": "function", "function": {"name": named}}
    return "required" if choice == "any" else choice
