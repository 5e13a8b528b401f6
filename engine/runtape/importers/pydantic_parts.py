"""The parts of pydantic-ai's messages in the shape of chat completions, as its models write them.

Seen with pydantic-ai 2.68.0: https://ai.pydantic.dev/api/messages/.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from .. import canon
from ..wire.bodies import listed, objects
from ..wire.reading import members, parsed, text_or_none
from ..wire.values import Json, JsonObject
from .conversation import tool_call


@dataclass(frozen=True, slots=True)
class Said:
    """One message and what it does not hold of its part."""

    message: JsonObject
    loses: tuple[str, ...] = ()
    error: str | None = None
    """Of the tool whose result it is."""
    tool: str | None = None


def request_messages(request: JsonObject) -> Iterator[Said]:
    """The messages that a `request` adds; its `instructions` are not among them."""
    for _, part in objects(request.get("parts")):
        kind = part.get("part_kind")
        content = part.get("content")
        if kind == "system-prompt":
            yield Said({"role": "system", "content": content})
        elif kind == "user-prompt":
            parts, loses = _user_content(content)
            yield Said({"role": "user", "content": parts}, loses)
        elif kind in ("tool-return", "builtin-tool-return"):
            yield _tool_return(part)
        elif kind == "retry-prompt":
            yield _retry(part)
        else:
            yield Said({"role": "user", "content": []}, (f"a part of kind {kind}",))


def response_message(response: JsonObject) -> Said:
    """The assistant's message of a `response`; thinking goes along as Anthropic's blocks."""
    texts: list[str] = []
    calls: list[Json] = []
    thinking: list[Json] = []
    loses: list[str] = []
    for _, part in objects(response.get("parts")):
        kind = part.get("part_kind")
        if kind == "text":
            texts.append(str(part.get("content")))
        elif kind == "tool-call":
            calls.append(tool_call(part.get("tool_call_id"), part.get("tool_name"), _arguments(part.get("args"))))
        elif kind == "thinking":
            loses.append("reasoning")
            if part.get("signature") is not None and part.get("provider_name") in (None, "anthropic"):
                block: JsonObject = {"type": "thinking", "thinking": part.get("content")}
                thinking.append({**block, "signature": part["signature"]})
        else:
            loses.append(f"a part of kind {kind}")
    message: JsonObject = {"role": "assistant", "content": "\n\n".join(texts) if texts else None}
    if calls:
        message["tool_calls"] = calls
    if thinking:
        message["thinking_blocks"] = thinking
    return Said(message, tuple(loses))


def _arguments(args: Json) -> Json:
    """As they are sent: JSON text is read and written again, what is no JSON goes as it is."""
    if not isinstance(args, str):
        return args
    value = parsed(args)
    return args if value is None else canon.dumps(value).decode()


def _user_content(content: Json) -> tuple[Json, tuple[str, ...]]:
    if isinstance(content, str):
        return content, ()
    parts: list[Json] = []
    loses: list[str] = []
    for item in listed(content):
        told = members(item)
        kind = told.get("kind")
        media = str(told.get("media_type", ""))
        if isinstance(item, str) or isinstance(told.get("content"), str):
            parts.append({"type": "text", "text": item if isinstance(item, str) else told["content"]})
        elif kind == "binary" and media.startswith("image/") and isinstance(data := told.get("data"), str):
            parts.append({"type": "image_url", "image_url": {"url": f"data:{media};base64,{_standard(data)}"}})
        elif kind == "image-url":
            parts.append({"type": "image_url", "image_url": {"url": told.get("url")}})
        elif kind != "cache-point":
            loses.append("images" if "image" in f"{kind} {media}" else f"content of kind {kind}")
    return parts, tuple(loses)


def _standard(data: str) -> str:
    """Histories hold bytes in the URL-safe alphabet, requests in the standard one."""
    return data.replace("-", "+").replace("_", "/")


def _tool_return(part: JsonObject) -> Said:
    content = part.get("content")
    text = content if isinstance(content, str) else "" if content is None else canon.dumps(content).decode()
    message: JsonObject = {"role": "tool", "tool_call_id": part.get("tool_call_id"), "content": text}
    failed = part.get("outcome") in ("failed", "denied")
    media = any("media_type" in members(item) for item in (content if isinstance(content, list) else [content]))
    return Said(message, ("images",) if media else (), text if failed else None, text_or_none(part.get("tool_name")))


def _retry(part: JsonObject) -> Said:
    content, name = part.get("content"), text_or_none(part.get("tool_name"))
    if isinstance(content, str):
        told = content if name is not None else f"Validation feedback:\n{content}"
    else:
        errors = [{key: error[key] for key in error if key != "ctx"} for _, error in objects(content)]
        plural = "" if len(errors) == 1 else "s"
        spelled = json.dumps(errors, indent=2, ensure_ascii=False)
        told = f"{len(errors)} validation error{plural}:\n```json\n{spelled}\n```"
    text = f"{told}\n\nFix the errors and try again."
    if name is None:
        return Said({"role": "user", "content": text})
    message: JsonObject = {"role": "tool", "tool_call_id": part.get("tool_call_id"), "content": text}
    return Said({**message, "is_error": True}, (), text, name)
