"""Model calls in the words of OpenTelemetry's GenAI convention, old and new, and of OpenLLMetry's flat attributes."""

from __future__ import annotations

from typing import Final

from ..wire.bodies import objects
from ..wire.reading import members
from ..wire.values import Json, JsonObject
from .genai_messages import answers_of, input_of, system_of
from .imported import ImportedCall
from .lost import lost_in
from .messages import Heard, heard
from .provider_body import not_its_shape
from .replies import reply_body, usage_of
from .shapes import shaped
from .span import Span, SpanCall, first_of
from .supplied import tools_for
from .unpacked import nested, unpacked, unpacked_list, unpacked_object

_CALLS: Final = ("chat", "text_completion", "generate_content", "completion")
_KEEP_TOOLS: Final = ("opentelemetry.instrumentation.", "genai", "pydantic-ai", "pydantic_ai", "logfire", "ai")
"""How the names of emitters begin that write down tools whenever a call offers some."""
_NO_TOOLS: Final = ("opentelemetry.instrumentation.openai_v2", "opentelemetry.util.genai.handler")
_CONTENT_OFF: Final = (
    "the span holds no messages: its log records are in another file (give both), or capturing of content was off when "
    "it was made "
    "(OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT, TRACELOOP_TRACE_CONTENT)"
)
_RESPELLED: Final = "put together from attributes; arguments of tool calls may be spelled with other white space"
_PARAMS: Final = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "seed": "seed",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
    "stop_sequences": "stop",
    "choice.count": "n",
}
DETAILS: Final = "gen_ai.client.inference.operation.details"
"""The log event that repeats the attributes of a span."""


def call_in(span: Span) -> SpanCall | None:
    """The model call that a span is; None when it is none of this convention's."""
    span = _with_details(span)
    attributes = span.attributes
    operation, kind = attributes.get("gen_ai.operation.name"), attributes.get("llm.request.type")
    has_prompt = any(key.startswith(("gen_ai.prompt.", "gen_ai.completion.")) for key in attributes)
    if operation is not None and operation not in _CALLS and not has_prompt:
        return None
    if operation is None and kind not in ("chat", "completion") and not has_prompt:
        told = "gen_ai.input.messages" in attributes or "gen_ai.request.model" in attributes
        if not told or attributes.get("traceloop.span.kind") is not None:
            return None
    return _call(span, _api(span))


def _with_details(span: Span) -> Span:
    """The span with the attributes of the log event that may carry its content."""
    more = [event for event in span.events if event.name == DETAILS]
    if not more:
        return span
    merged: JsonObject = dict(span.attributes)
    for event in more:
        merged |= {**event.attributes, **members(event.body)}
    return Span(
        span.place,
        span.trace,
        span.id,
        span.parent,
        span.name,
        span.scope,
        span.started,
        span.ended,
        merged,
        span.events,
        span.error,
    )


def _api(span: Span) -> str:
    attributes = span.attributes
    named = _provider(span)
    response = attributes.get("gen_ai.response.id")
    if named == "anthropic":
        return "messages"
    if attributes.get("openai.api.type") == "responses" or str(response).startswith("resp_"):
        return "responses"
    is_openai = named in ("openai", "azure.ai.openai", "az.ai.openai", "azure")
    return "responses" if is_openai and span.name.startswith("openai.response") else "chat.completions"


def _provider(span: Span) -> str:
    value = first_of(span.attributes, "gen_ai.provider.name", "gen_ai.system")
    return value.lower() if isinstance(value, str) and value else "openai"


def _tools(span: Span, told: Heard) -> list[Json]:
    attributes = span.attributes
    listed: list[Json] = unpacked_list(attributes.get("gen_ai.tool.definitions"))
    if not listed:
        flat = nested(attributes, "llm.request.functions")
        spelled = flat if isinstance(flat, list) else unpacked_list(flat)
        listed = [{key: unpacked(part) for key, part in members(item).items()} for item in spelled]
    if not listed:
        offered = unpacked_object(attributes.get("model_request_parameters"))
        listed = [*_offered(offered.get("function_tools")), *_offered(offered.get("output_tools"))]
    return listed or told.tools


def _offered(tools: Json) -> list[JsonObject]:
    kept = ("name", "description", "parameters_json_schema", "strict")
    return [{key: tool[key] for key in kept if tool.get(key) is not None} for _, tool in objects(tools)]


def _call(span: Span, api: str) -> SpanCall:
    attributes = span.attributes
    apart, told, answers = heard(system_of(span)).messages, input_of(span), answers_of(span, api)
    provider = _provider(span)
    model = first_of(attributes, "gen_ai.request.model", "gen_ai.response.model")
    tools = _tools(span, told)
    body: JsonObject = {"model": model} if isinstance(model, str) else {}
    instructions = next((message.get("content") for message in apart), None)
    if api == "responses" and isinstance(instructions, str):
        body |= {"instructions": instructions, **shaped(api, told.messages)}
    else:
        body |= shaped(api, [*apart, *told.messages])
    if tools:
        body["tools"] = tools_for(api, tools)
    body |= _params(attributes, api)
    lost = {"params", *told.lost, *lost_in(body)}
    if not tools and not _keeps_tools(span, told):
        lost.add("tools")
    if tools and api != "messages" and not any("strict" in str(tool) for tool in body.get("tools") or ()):  # type: ignore[union-attr]
        lost.add("strict")
    if api == "responses" and any("tool_calls" in message for message in told.messages):
        lost |= {"reasoning", "item ids"}
    if api == "messages":
        lost.add("cache_control")
    usable = bool(told.messages)
    response = attributes.get("gen_ai.response.id")
    tokens = [
        first_of(attributes, f"gen_ai.usage.{side}_tokens", f"gen_ai.usage.{old}_tokens")
        for side, old in (("input", "prompt"), ("output", "completion"))
    ]
    call = ImportedCall(
        place=span.place,
        api=api,
        provider=provider,
        endpoint=_endpoint(attributes),
        body=body,
        reply=None
        if not answers
        else reply_body(
            api,
            *answers,
            model=attributes.get("gen_ai.response.model"),
            id=response,
            usage=usage_of(api, tokens[0], tokens[1]),
        ),
        fidelity="partial" if usable else "not rebuildable",
        missing=tuple(sorted(lost)) if usable else ("messages",),
        why="; ".join(filter(None, (_RESPELLED, not_its_shape(api, provider)))) if usable else _CONTENT_OFF,
        started=span.started,
        latency_ms=span.latency_ms,
        error=span.failure,
    )
    return SpanCall(span, call, response if isinstance(response, str) and response else None)


def _keeps_tools(span: Span, told: Heard) -> bool:
    """True when what wrote the span would have told of tools, so that none were offered."""
    if any("tool_calls" in message for message in told.messages) or span.scope in _NO_TOOLS:
        return False
    return span.scope.startswith(_KEEP_TOOLS)


def _params(attributes: JsonObject, api: str) -> JsonObject:
    found: JsonObject = {}
    for name, sent in _PARAMS.items():
        value = unpacked(attributes.get(f"gen_ai.request.{name}"))
        if value is None or (name == "choice.count" and value == 1):
            continue
        found["stop_sequences" if sent == "stop" and api == "messages" else sent] = value
    most = attributes.get("gen_ai.request.max_tokens")
    if isinstance(most, (int, float)):
        found["max_output_tokens" if api == "responses" else "max_tokens"] = int(most)
    return found


def _endpoint(attributes: JsonObject) -> str | None:
    base = first_of(attributes, "gen_ai.openai.api_base", "llm.openai.api_base")
    return base.rstrip("/") if isinstance(base, str) and base.startswith("http") else None
