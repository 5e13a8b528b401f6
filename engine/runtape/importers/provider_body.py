"""Provider requests as logs of SDK calls keep them."""

from __future__ import annotations

from typing import Final

from ..wire.reading import members
from ..wire.values import Json, JsonObject

_OF_CLIENT: Final = ("extra_headers", "extra_query", "extra_body", "timeout", "http_options")
"""Arguments of an SDK's method that are no part of the body."""


def sent_body(arguments: JsonObject) -> JsonObject:
    """The body of a call from the arguments of the SDK's method; null stands for an argument that was not given."""
    body: JsonObject = {key: value for key, value in arguments.items() if value is not None and key not in _OF_CLIENT}
    return {**body, **members(arguments.get("extra_body"))}


def api_of(body: JsonObject, model: str = "") -> str | None:
    """The API that a body is in the shape of; None when it is none of those that can be rerun.

    `model`: the provider and model as the source names them, such as `anthropic/claude-sonnet-4-5`.
    """
    messages = body.get("messages")
    if isinstance(messages, list):
        if model.startswith("anthropic/") or "system" in body or _has_anthropic_blocks(messages):
            return "messages"
        shaped = all("role" in members(message) and not _is_converse(members(message)) for message in messages)
        return "chat.completions" if shaped and ("model" in body or "modelId" not in body) else None
    return "responses" if "input" in body else None


def api_of_reply(reply: Json) -> str | None:
    """The API whose response a value looks like."""
    told = members(reply)
    if isinstance(told.get("choices"), list):
        return "chat.completions"
    if isinstance(told.get("output"), list):
        return "responses"
    return "messages" if isinstance(told.get("content"), list) and told.get("role") == "assistant" else None


def not_its_shape(api: str, provider: str) -> str | None:
    """What to say of a request in the shape of chat completions that was sent to a provider with an API of its own."""
    own = provider.lower().startswith(_OWN_API)
    return _IN_CHAT if api == "chat.completions" and own else None


_OWN_API: Final = ("anthropic", "aws", "bedrock", "cohere", "gcp", "gemini", "google", "ibm", "vertex", "watsonx")
_IN_CHAT: Final = "put together in the shape of chat completions, which is not the API that it was sent to"


def _has_anthropic_blocks(messages: list[Json]) -> bool:
    blocks = [
        members(block).get("type")
        for message in messages
        if isinstance(content := members(message).get("content"), list)
        for block in content
    ]
    return any(kind in ("tool_use", "tool_result", "thinking", "redacted_thinking") for kind in blocks)


def _is_converse(message: JsonObject) -> bool:
    """True for a message of Bedrock's Converse API, whose blocks have no type."""
    content = message.get("content")
    return isinstance(content, list) and any(
        "type" not in members(block) and "text" in members(block) for block in content
    )
