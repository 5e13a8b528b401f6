"""What of a request is not cut into pieces: one reason per kind and message."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ..wire.values import Json, JsonObject, Path

TOOL_SCHEMAS = "names and argument types of the tools stay as they are; their descriptions and order are examined"
NO_WORDS = "there are no words in it to leave out"

_BUILT_IN = "calls of a built-in tool stay as they are"
_PROVIDER = "steps of the provider's own tools stay as they are: their results are sealed"
_THINKING = "reasoning of a turn that goes on stays: the provider takes it back unchanged or not at all"
_TIED = "reasoning stays: the provider ties it to the item that follows"
_SEALED = "only the provider can read it"
_IMAGES = "images stay as they are here"
_DOCUMENTS = "documents stay as they are here"
_AUDIO = "audio stays as it is here"
_UNKNOWN = "content of a kind that is not known here stays as it is"

_REASON_OF_TYPE = {
    "image": _IMAGES,
    "image_url": _IMAGES,
    "input_image": _IMAGES,
    "computer_screenshot": _IMAGES,
    "computer_call_output": _IMAGES,
    "document": _DOCUMENTS,
    "file": _DOCUMENTS,
    "input_file": _DOCUMENTS,
    "audio": _AUDIO,
    "input_audio": _AUDIO,
    "thinking": _THINKING,
    "redacted_thinking": _THINKING,
    "reasoning": _TIED,
    "compaction": _SEALED,
    "item_reference": _SEALED,
    "encrypted_content": _SEALED,
    "computer_call": _BUILT_IN,
    "local_shell_call": _BUILT_IN,
    "shell_call": _BUILT_IN,
    "apply_patch_call": _BUILT_IN,
    "server_tool_use": _PROVIDER,
    "web_search_call": _PROVIDER,
    "file_search_call": _PROVIDER,
    "code_interpreter_call": _PROVIDER,
    "image_generation_call": _PROVIDER,
    "mcp_list_tools": _PROVIDER,
    "tool_search_call": _PROVIDER,
}
_REASON_OF_KEY = {
    "reasoning": _THINKING,
    "reasoning_content": _THINKING,
    "reasoning_details": _THINKING,
    "audio": _AUDIO,
}
# Content that is text, or that holds content, or arguments: empty where it has no slot.
_READ = frozenset(
    {"text", "input_text", "output_text", "refusal", "message", "search_result", "tool_result", "mcp_tool_result"}
) | {
    "tool_use",
    "mcp_tool_use",
    "function_call",
    "custom_tool_call",
    "mcp_call",
    "mcp_approval_request",
    "mcp_approval_response",
    "function_call_output",
    "custom_tool_call_output",
    "local_shell_call_output",
    "shell_call_output",
    "apply_patch_call_output",
    "program_output",
}
_ELSEWHERE = {
    "previous_response_id": "the conversation before this request is kept by the provider and is not in the trace",
    "conversation": "the conversation before this request is kept by the provider and is not in the trace",
    "prompt": "a prompt template that the provider keeps is not in the trace",
}
"""Parameters that bring in text from outside the request."""


def reasons(message: Json, examined: Collection[Path]) -> list[str]:
    """Why parts of a message are not examined; empty when all of it is.

    Args:
        message: As the provider spells it.
        examined: Paths inside it, and all their beginnings, of what is examined.
    """
    return list(dict.fromkeys(_found(message, (), examined)))


def elsewhere(body: JsonObject) -> list[tuple[str, str]]:
    """Parameters of a request that stand for text which is not in it, each with a reason."""
    return [(key, reason) for key, reason in _ELSEWHERE.items() if body.get(key)]


def _found(value: Json, path: Path, examined: Collection[Path]) -> Iterator[str]:
    if not isinstance(value, dict):
        return
    type_ = value.get("type")
    if path not in examined and isinstance(type_, str) and type_ not in _READ:
        yield _REASON_OF_TYPE.get(type_, _PROVIDER if type_.endswith("_tool_result") else _UNKNOWN)
        return
    for key, reason in _REASON_OF_KEY.items():
        if value.get(key) and (*path, key) not in examined:
            yield reason
    for key in ("content", "output"):
        inside = value.get(key)
        if isinstance(inside, list):
            for index, part in enumerate(inside):
                yield from _found(part, (*path, key, index), examined)
