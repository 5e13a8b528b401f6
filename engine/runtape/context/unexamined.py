"""What of a request is not cut into pieces: one reason per kind and message."""

from __future__ import annotations

from collections.abc import Iterator

from ..wire.values import Json

TOOL_DEFINITIONS = "tool definitions stay as they are"
NO_WORDS = "there are no words in it to leave out"

_CALLS = "arguments of earlier tool calls stay as they are"
_REASONING = "reasoning stays as it is: the provider checks it"
_IMAGES = "images stay as they are"
_DOCUMENTS = "documents stay as they are"
_AUDIO = "audio stays as it is"
_UNKNOWN = "content of a kind that is not known here stays as it is"

_REASON_OF_TYPE = {
    "image": _IMAGES,
    "image_url": _IMAGES,
    "input_image": _IMAGES,
    "document": _DOCUMENTS,
    "file": _DOCUMENTS,
    "input_file": _DOCUMENTS,
    "audio": _AUDIO,
    "input_audio": _AUDIO,
    "thinking": _REASONING,
    "redacted_thinking": _REASONING,
    "reasoning": _REASONING,
    "tool_use": _CALLS,
    "function_call": _CALLS,
    "custom_tool_call": _CALLS,
}
_REASON_OF_KEY = {
    "tool_calls": _CALLS,
    "function_call": _CALLS,
    "reasoning": _REASONING,
    "reasoning_content": _REASONING,
    "reasoning_details": _REASONING,
}
# Content that is text, or that holds content.
_READ = frozenset({"text", "input_text", "output_text", "refusal", "message", "search_result"}) | {
    "tool_result",
    "function_call_output",
    "custom_tool_call_output",
}


def reasons(message: Json) -> list[str]:
    """Why parts of a message are not examined; empty when all of it is text."""
    return list(dict.fromkeys(_found(message)))


def _found(value: Json) -> Iterator[str]:
    if not isinstance(value, dict):
        return
    type_ = value.get("type")
    if isinstance(type_, str) and type_ not in _READ:
        yield _REASON_OF_TYPE.get(type_, _UNKNOWN)
        return
    for key, reason in _REASON_OF_KEY.items():
        if value.get(key):
            yield reason
    for key in ("content", "output"):
        inside = value.get(key)
        if isinstance(inside, list):
            for part in inside:
                yield from _found(part)
