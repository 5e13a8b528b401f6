"""Model calls in the words of OpenInference (Arize, Phoenix)."""

from __future__ import annotations

from typing import Final

from ..wire.bodies import objects
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
from .unpacked import nested, unpacked, unpacked_list, unpacked_object

KIND: Final = "openinference.span.kind"
_MASK: Final = "__REDACTED__"
_NEVER_SENT: Final = (
    "_type",
    "model_name",
    "model",
    "stream",
    "extra_headers",
    "timeout",
    "tools",
    "messages",
    "input",
)


def call_in(span: Span) -> SpanCall | None:
    """The model call that a span is; None when it is none of OpenInference's."""
    kind = span.attributes.get(KIND)
    if not isinstance(kind, str) or kind.upper() != "LLM":
        return None
    body = unpacked(span.attributes.get("input.value"))
    if isinstance(body, dict) and _is_sent(body):
        return _exact(span, body)
    return _flat(span)


def _is_sent(body: JsonObject) -> bool:
    """True for a request as a provider takes it; frameworks put their own dumps in the same place."""
    if not isinstance(body.get("model"), str):
        return False
    messages = body.get("messages")
    if isinstance(messages, list):
        return all("role" in message for _, message in objects(messages)) and len(objects(messages)) == len(messages)
    return isinstance(body.get("input"), (str, list))


def _exact(span: Span, body: JsonObject) -> SpanCall:
    api = _api(span, body)
    lost = tuple(sorted({*lost_in(body), *_masked(body)}))
    if isinstance(body.get("response_format"), str):  # the name of a class that the SDK turned into a schema
        lost = (*lost, "response_format")
        body = {key: value for key, value in body.items() if key != "response_format"}
    output = unpacked(span.attributes.get("output.value"))
    reply = output if _is_reply(output) else _flat_reply(span, api)
    call = ImportedCall(
        place=span.place,
        api=api,
        provider=raw.provider_of(api),
        endpoint=None,
        body=body,
        reply=reply,
        fidelity="partial" if lost else "exact",
        missing=lost,
        started=span.started,
        latency_ms=span.latency_ms,
        error=span.failure,
    )
    return SpanCall(span, call, _text(members(reply).get("id")))


def _api(span: Span, body: JsonObject) -> str:
    provider = [span.attributes.get("llm.provider"), span.attributes.get("llm.system")]
    if "input" in body and "messages" not in body:
        return "responses"
    if "anthropic" in provider:
        return "messages"
    return "chat.completions" if "openai" in provider else raw.api_of_body(body)


def _masked(body: Json) -> set[str]:
    found: set[str] = set()
    waiting: list[Json] = [body]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str) and _MASK in item:
            found.add("redacted texts")
        elif isinstance(item, dict):
            if any(_MASK in str(item.get(key)) for key in ("image_url", "source", "data")):
                found.add("images")
                continue
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
    return found


def _is_reply(output: Json) -> bool:
    return (
        isinstance(output, dict)
        and any(key in output for key in ("choices", "output", "content"))
        and ("id" in output or "object" in output or "model" in output)
    )


def _flat(span: Span) -> SpanCall:
    attributes = span.attributes
    told = heard(_messages(attributes, "llm.input_messages"))
    params = unpacked_object(attributes.get("llm.invocation_parameters"))
    given = [
        unpacked(members(tool).get("tool.json_schema", members(members(tool).get("tool")).get("json_schema")))
        for tool in _list(nested(attributes, "llm.tools"))
    ]
    tools: list[Json] = [tool for tool in given if isinstance(tool, dict)] or unpacked_list(params.get("tools"))
    model = attributes.get("llm.model_name") or params.get("model") or params.get("model_name")
    provider = _text(attributes.get("llm.provider")) or _text(attributes.get("llm.system")) or "openai"
    api = "messages" if provider == "anthropic" else "chat.completions"
    body: JsonObject = {"model": model} if isinstance(model, str) else {}
    body |= shaped(api, told.messages)
    if tools:
        body["tools"] = tools_for(api, tools)
    body |= {key: value for key, value in params.items() if value is not None and key not in _NEVER_SENT}
    lost = {*told.lost, *lost_in(body), *_masked(body)}
    if not tools and any("tool_calls" in message for message in told.messages):
        lost.add("tools")
    if "llm.invocation_parameters" not in attributes:
        lost.add("params")
    missing = tuple(sorted(lost))
    call = ImportedCall(
        place=span.place,
        api=api,
        provider=provider,
        endpoint=None,
        body=body,
        reply=_flat_reply(span, api),
        fidelity=("partial" if missing else "rebuilt") if told.messages else "not rebuildable",
        missing=missing if told.messages else ("messages",),
        why=None if told.messages else "the span holds no messages",
        started=span.started,
        latency_ms=span.latency_ms,
        error=span.failure,
    )
    return SpanCall(span, call)


def _flat_reply(span: Span, api: str) -> Json:
    """The reply, which may be spread over several output messages: reasoning, text, tool calls."""
    attributes = span.attributes
    told = heard(_messages(attributes, "llm.output_messages"))
    if not told.messages:
        text = attributes.get("output.value")
        if not isinstance(text, str) or not text or _MASK in text or span.error:
            return None
        told.messages.append({"role": "assistant", "content": text})
    texts = [text for message in told.messages if isinstance(text := message.get("content"), str) and text]
    calls: list[Json] = [call for message in told.messages for _, call in objects(message.get("tool_calls"))]
    message: JsonObject = {"role": "assistant", "content": "".join(texts) or None}
    if calls:
        message["tool_calls"] = calls
    counts = (attributes.get("llm.token_count.prompt"), attributes.get("llm.token_count.completion"))
    finish, model = attributes.get("llm.finish_reason"), attributes.get("llm.model_name")
    return reply_body(api, Choice(message, finish), model=model, usage=usage_of(api, *counts))


def _messages(attributes: JsonObject, prefix: str) -> list[Json]:
    """The flat messages as chat messages."""
    found: list[Json] = []
    for item in _list(nested(attributes, prefix)):
        message = members(members(item).get("message")) or members(item)
        content = message.get("content")
        parts = [
            _part(members(members(part).get("message_content")) or members(part))
            for part in _list(message.get("contents"))
        ]
        calls = [members(members(call).get("tool_call")) or members(call) for call in _list(message.get("tool_calls"))]
        kept: JsonObject = {"role": message.get("role", "user"), "content": content if content is not None else parts}
        if not kept["content"]:
            kept["content"] = None
        if calls:
            kept["tool_calls"] = [*calls]
        for key in ("tool_call_id", "name"):
            if isinstance(message.get(key), str):
                kept[key] = message[key]
        function = message.get("function_call_name")
        if isinstance(function, str):
            kept["tool_calls"] = [{"name": function, "arguments": message.get("function_call_arguments_json", "{}")}]
        found.append(kept)
    return found


def _part(part: JsonObject) -> Json:
    url = members(members(part.get("image")).get("image")).get("url") or members(part.get("image")).get("url")
    if isinstance(url, str):
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": part.get("type", "text"), "text": part.get("text")}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) and value else None
