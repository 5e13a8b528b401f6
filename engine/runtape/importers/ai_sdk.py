"""Model calls in the words of the AI SDK (Vercel): one span each inside of the span of the loop."""

from __future__ import annotations

from typing import Final

from ..wire.reading import members
from ..wire.values import Json, JsonObject
from . import raw
from .imported import ImportedCall
from .lost import lost_in
from .messages import heard
from .replies import Choice, reply_body, usage_of
from .shapes import shaped
from .span import Span, SpanCall
from .supplied import tools_for
from .unpacked import unpacked, unpacked_list, unpacked_object

_SETTINGS: Final = {
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "maxTokens": "max_tokens",
    "maxOutputTokens": "max_tokens",
    "seed": "seed",
    "frequencyPenalty": "frequency_penalty",
    "presencePenalty": "presence_penalty",
}


def call_in(span: Span) -> SpanCall | None:
    """The model call that a span is; None when it is none of the AI SDK's."""
    attributes = span.attributes
    prompt = unpacked_list(attributes.get("ai.prompt.messages"))
    if not prompt:
        return None
    told = heard(prompt)
    provider = str(attributes.get("ai.model.provider") or attributes.get("gen_ai.system") or "openai").split(".")
    api = "messages" if provider[0] == "anthropic" else "chat.completions"
    model = attributes.get("ai.model.id") or attributes.get("gen_ai.request.model")
    offered = attributes.get("ai.prompt.tools")
    listed = offered if isinstance(offered, list) else unpacked_list(offered)
    tools = [unpacked(tool) for tool in listed]
    body: JsonObject = {"model": model} if isinstance(model, str) else {}
    body |= shaped(api, told.messages)
    if tools:
        body["tools"] = tools_for(api, tools)
    choice = unpacked_object(attributes.get("ai.prompt.toolChoice")).get("type")
    if isinstance(choice, str) and tools and choice != "auto":
        body["tool_choice"] = {"type": "any" if choice == "required" else choice} if api == "messages" else choice
    for name, sent in _SETTINGS.items():
        value = attributes.get(f"ai.settings.{name}")
        if isinstance(value, (int, float)):
            body[sent] = value
    lost = tuple(sorted({"params", *told.lost, *lost_in(body)}))
    call = ImportedCall(
        place=span.place,
        api=api,
        provider=raw.provider_of(api) if provider[0] in ("openai", "anthropic") else provider[0],
        endpoint=None,
        body=body,
        reply=_reply(attributes, api),
        fidelity="partial",
        missing=lost,
        why="the AI SDK writes its own prompt down, which its provider package turns into the request",
        started=span.started,
        latency_ms=span.latency_ms,
        error=span.failure,
    )
    response = attributes.get("ai.response.id") or attributes.get("gen_ai.response.id")
    return SpanCall(span, call, response if isinstance(response, str) else None)


def _reply(attributes: JsonObject, api: str) -> Json:
    text = attributes.get("ai.response.text", attributes.get("ai.result.text"))
    calls = unpacked_list(attributes.get("ai.response.toolCalls", attributes.get("ai.result.toolCalls")))
    if text is None and not calls:
        thing = attributes.get("ai.response.object")
        if thing is None:
            return None
        text = thing
    message: JsonObject = members(
        heard([{"role": "assistant", "content": text or None, "tool_calls": calls}]).messages[0]
    )
    tokens = (
        attributes.get("gen_ai.usage.input_tokens", attributes.get("ai.usage.promptTokens")),
        attributes.get("gen_ai.usage.output_tokens", attributes.get("ai.usage.completionTokens")),
    )
    return reply_body(
        api,
        Choice(message, attributes.get("ai.response.finishReason")),
        model=attributes.get("ai.response.model"),
        id=attributes.get("ai.response.id"),
        usage=usage_of(api, *tokens),
    )
