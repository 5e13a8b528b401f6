"""Model calls in the words of OpenTelemetry's GenAI convention, old and new, and of OpenLLMetry's flat attributes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..wire.bodies import objects
from ..wire.reading import members
from ..wire.values import Json, JsonObject
from .imported import ImportedCall, ImportedTool
from .lost import lost_in
from .messages import Heard, heard
from .replies import reply_body, usage_of
from .shapes import shaped
from .span import Span, SpanCall
from .supplied import tools_for
from .unpacked import nested, unpacked, unpacked_list, unpacked_object

_CALLS: Final = ("chat", "text_completion", "generate_content", "completion")
_KEEP_TOOLS: Final = ("opentelemetry.instrumentation.", "genai", "pydantic-ai", "pydantic_ai", "logfire", "ai")
"""How the names of emitters begin that write down tools whenever a call offers some."""
_NO_TOOLS: Final = ("opentelemetry.instrumentation.openai_v2", "opentelemetry.util.genai.handler")
_CONTENT_OFF: Final = (
    "the span holds no messages: capturing of content was off when it was made "
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
_DETAILS: Final = "gen_ai.client.inference.operation.details"


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
    api = _api(span)
    reply, finish = _output(span)
    return _call(span, api, _input(span), reply, finish)


def tool_in(span: Span) -> ImportedTool | None:
    """The run of a tool that a span is; None when it is none."""
    attributes = span.attributes
    name = attributes.get("gen_ai.tool.name") or attributes.get("tool.name") or attributes.get("ai.toolCall.name")
    if attributes.get("traceloop.span.kind") == "tool":
        name = name or attributes.get("traceloop.entity.name")
    is_tool = (
        attributes.get("gen_ai.operation.name") == "execute_tool"
        or attributes.get("openinference.span.kind") == "TOOL"
        or attributes.get("traceloop.span.kind") == "tool"
        or "ai.toolCall.name" in attributes
    )
    if not is_tool:
        return None
    given = _first(attributes, "gen_ai.tool.call.arguments", "tool.parameters", "input.value", "ai.toolCall.args")
    result = _first(attributes, "gen_ai.tool.call.result", "output.value", "ai.toolCall.result")
    if attributes.get("traceloop.span.kind") == "tool":
        given = given if given is not None else attributes.get("traceloop.entity.input")
        result = result if result is not None else attributes.get("traceloop.entity.output")
    call_id = _first(attributes, "gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id", "tool.id")
    return ImportedTool(
        place=span.place,
        name=name if isinstance(name, str) else span.name,
        arguments=unpacked(given),
        result=result,
        error=span.failure,
        call_id=call_id if isinstance(call_id, str) and call_id else None,
        started=span.started,
        latency_ms=span.latency_ms,
    )


def _first(attributes: JsonObject, *keys: str) -> Json:
    return next((attributes[key] for key in keys if attributes.get(key) is not None), None)


def _with_details(span: Span) -> Span:
    """The span with the attributes of the log event that may carry its content."""
    more = [event for event in span.events if event.name == _DETAILS]
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
    value = _first(span.attributes, "gen_ai.provider.name", "gen_ai.system")
    return value.lower() if isinstance(value, str) and value else "openai"


def _input(span: Span) -> Heard:
    attributes = span.attributes
    system = unpacked(attributes.get("gen_ai.system_instructions"))
    first: list[Json] = []
    if isinstance(system, list) and system:
        first = [{"role": "system", "parts": system}]
    elif isinstance(system, str) and system:
        first = [{"role": "system", "content": system}]
    listed = unpacked_list(attributes.get("gen_ai.input.messages"))
    if not listed:
        listed = _flat(attributes, "gen_ai.prompt")
    if not listed:
        listed = list(_of_events(span))
    if not listed:
        listed = unpacked_list(_first(attributes, "all_messages_events", "pydantic_ai.all_messages"))
    return heard([*first, *listed])


def _flat(attributes: JsonObject, prefix: str) -> list[Json]:
    """Messages of OpenLLMetry's numbered attributes."""
    told = nested(attributes, prefix)
    found: list[Json] = []
    for item in told if isinstance(told, list) else unpacked_list(told):
        message = dict(members(item))
        content = unpacked(message.get("content"))
        message["content"] = content if isinstance(content, list) else message.get("content")
        function = members(message.pop("function_call", None))
        if function:
            message["tool_calls"] = [function]
        if message:
            found.append({"role": "assistant" if prefix.endswith("completion") else "user", **message})
    return found


def _of_events(span: Span) -> Iterator[Json]:
    """Messages that are log records or events of the span."""
    for event in span.events:
        role = event.name.removeprefix("gen_ai.").removesuffix(".message")
        if event.name == f"gen_ai.{role}.message" and role in ("system", "user", "assistant", "tool"):
            body = members(unpacked(event.body)) or {key: unpacked(item) for key, item in event.attributes.items()}
            kept: JsonObject = {key: body[key] for key in ("content", "tool_calls") if key in body}
            if not kept:
                continue
            identity = body.get("id") or body.get("tool_call_id")
            named = body.get("role") if isinstance(body.get("role"), str) else role
            yield {"role": named, "content": None, **kept, **({"tool_call_id": identity} if role == "tool" else {})}
        elif event.name == "gen_ai.content.prompt":
            yield from unpacked_list(event.attributes.get("gen_ai.prompt"))


def _output(span: Span) -> tuple[JsonObject | None, Json]:
    attributes = span.attributes
    listed = unpacked_list(attributes.get("gen_ai.output.messages")) or _flat(attributes, "gen_ai.completion")
    finish: Json = None
    if not listed:
        for event in span.events:
            body = members(unpacked(event.body)) or {key: unpacked(item) for key, item in event.attributes.items()}
            if event.name == "gen_ai.choice" and body.get("index", 0) in (0, "0"):
                listed.append({"role": "assistant", "content": None, **members(unpacked(body.get("message")))})
                finish = body.get("finish_reason")
            elif event.name == "gen_ai.content.completion":
                listed += unpacked_list(event.attributes.get("gen_ai.completion"))
    told = heard(listed).messages
    if not told:
        return None, None
    finish = finish or members(listed[0]).get("finish_reason")
    reasons = unpacked_list(attributes.get("gen_ai.response.finish_reasons"))
    message = told[0]
    calls: list[Json] = [call for each in told for _, call in objects(each.get("tool_calls"))]
    return ({**message, "tool_calls": calls} if calls else message), finish or next(iter(reasons), None)


def _tools(span: Span, told: Heard) -> list[Json]:
    attributes = span.attributes
    listed: list[Json] = unpacked_list(attributes.get("gen_ai.tool.definitions"))
    if not listed:
        flat = nested(attributes, "llm.request.functions")
        for item in flat if isinstance(flat, list) else unpacked_list(flat):
            function: JsonObject = {**members(item), "parameters": unpacked(members(item).get("parameters"))}
            listed.append(function)
    if not listed:
        offered = unpacked_object(attributes.get("model_request_parameters"))
        listed = [*_offered(offered.get("function_tools")), *_offered(offered.get("output_tools"))]
    return listed or told.tools


def _offered(tools: Json) -> list[JsonObject]:
    kept = ("name", "description", "parameters_json_schema", "strict")
    return [{key: tool[key] for key in kept if tool.get(key) is not None} for _, tool in objects(tools)]


def _call(span: Span, api: str, told: Heard, reply: JsonObject | None, finish: Json) -> SpanCall:
    attributes = span.attributes
    model = _first(attributes, "gen_ai.request.model", "gen_ai.response.model")
    tools = _tools(span, told)
    body: JsonObject = {"model": model} if isinstance(model, str) else {}
    body |= shaped(api, told.messages)
    if tools:
        body["tools"] = tools_for(api, tools)
    body |= _params(attributes, api)
    lost = {"params", *told.lost, *lost_in(body)}
    if not tools and not _keeps_tools(span, told):
        lost.add("tools")
    if tools and api != "messages" and not any("strict" in str(tool) for tool in body.get("tools") or ()):  # type: ignore[union-attr]
        lost.add("strict")
    if api == "responses" and any("tool_calls" in message for message in told.messages):
        lost.add("reasoning")
    usable = bool(told.messages)
    response = attributes.get("gen_ai.response.id")
    tokens = [
        _first(attributes, f"gen_ai.usage.{side}_tokens", f"gen_ai.usage.{old}_tokens")
        for side, old in (("input", "prompt"), ("output", "completion"))
    ]
    call = ImportedCall(
        place=span.place,
        api=api,
        provider=_provider(span),
        endpoint=_endpoint(attributes),
        body=body,
        reply=None
        if reply is None
        else reply_body(
            api,
            reply,
            finish=finish,
            model=attributes.get("gen_ai.response.model"),
            id=response,
            usage=usage_of(api, tokens[0], tokens[1]),
        ),
        fidelity="partial" if usable else "not rebuildable",
        missing=tuple(sorted(lost)) if usable else ("messages",),
        why=_RESPELLED if usable else _CONTENT_OFF,
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
    base = _first(attributes, "gen_ai.openai.api_base", "llm.openai.api_base")
    return base.rstrip("/") if isinstance(base, str) and base.startswith("http") else None
