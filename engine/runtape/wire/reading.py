"""What the replies of every API have in common."""

from __future__ import annotations

from .. import canon
from .dialect import UnreadableReply
from .values import Json, JsonObject, Stop, ToolCall

_STOPS: dict[str, Stop] = {
    "stop": "end",
    "end_turn": "end",
    "stop_sequence": "end",
    "completed": "end",
    "tool_calls": "tool_calls",
    "tool_call": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",  # Mistral
    "model_context_window_exceeded": "length",
    "content_filter": "filter",
    "content_filtered": "filter",  # Bedrock, and the next
    "guardrail_intervened": "filter",
    "sensitive": "filter",  # Z.ai
    "safety": "filter",  # Gemini, and those to `language`
    "recitation": "filter",
    "blocklist": "filter",
    "prohibited_content": "filter",
    "spii": "filter",
    "language": "filter",
    "refusal": "refusal",
    "error": "unfinished",  # OpenRouter, Mistral
    "failed": "unfinished",
    "network_error": "unfinished",
    "abort": "unfinished",  # vLLM, SGLang
    "aborted": "unfinished",
    "canceled": "unfinished",
    "cancelled": "unfinished",
    "insufficient_system_resource": "unfinished",  # DeepSeek
    "malformed_function_call": "unfinished",  # Gemini
    "malformed_tool_use": "unfinished",  # Bedrock, and the next
    "malformed_model_output": "unfinished",
    "pause_turn": "unfinished",
    "compaction": "unfinished",
    "queued": "unfinished",
    "in_progress": "unfinished",
    "incomplete": "unfinished",
}


def stop_of(reason: Json) -> Stop:
    """A provider's word for why a reply ended, in the words of all; gateways vary its case and hyphens."""
    return _STOPS.get(reason.lower().replace("-", "_"), "other") if isinstance(reason, str) else "other"


def answer_in(body: Json) -> JsonObject:
    """`body`, once it is known to be an object that reports no error.

    Raises:
        UnreadableReply: it is not.
    """
    if not isinstance(body, dict):
        raise UnreadableReply(f"the response is {spelled(body)}, not an object")
    error = body.get("error")
    if error or body.get("type") == "error":  # some gateways send an empty one with every answer
        raise UnreadableReply(f"the response is an error: {told(error)}")
    return body


def text_or_none(value: Json) -> str | None:
    """`value` if it is text."""
    return value if isinstance(value, str) else None


def id_of(value: Json) -> str | None:
    """`value` if it can identify something: some servers send empty ids."""
    return value if isinstance(value, str) and value else None


_COUNTABLE = 2**53
"""Beyond this a number of tokens is a fault of the server's, and no float holds it exactly."""


def count(value: Json) -> int | None:
    """`value` if it can be a number of tokens; None is unknown."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _COUNTABLE else None


def members(value: Json) -> JsonObject:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def call_of(name: Json, arguments: Json, id_: Json) -> ToolCall:
    """A tool call; `arguments` is their text, or the JSON that the provider sent in place of a text.

    Raises:
        UnreadableReply: the call names no tool.
    """
    if not isinstance(name, str):
        raise UnreadableReply(f"a tool call whose name is {spelled(name)}, not text")
    if not isinstance(arguments, str):
        return ToolCall(name, canon.dumps(arguments).decode(), arguments, id_of(id_))
    return ToolCall(name, arguments, parsed(arguments), id_of(id_))


def parsed(text: str) -> Json:
    """The value of some JSON text; None when it is not JSON."""
    try:
        return canon.loads(text)
    except ValueError:
        return None


def spelled(value: Json) -> str:
    """The JSON name of a value's type, for messages."""
    if value is None:
        return "null"
    names: dict[type, str] = {bool: "a boolean", str: "text", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")


_TOLD = 300
"""Characters of a provider's error that go into a message of ours."""


def told(error: Json) -> str:
    """What a provider's error says, shortened for a message."""
    message = error.get("message") if isinstance(error, dict) else error
    text = message if isinstance(message, str) else canon.dumps(error).decode()
    return text if len(text) <= _TOLD else f"{text[:_TOLD]}…"
