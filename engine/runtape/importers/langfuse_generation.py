"""One generation of Langfuse as a model call: its input, output and parameters come in many shapes."""

from __future__ import annotations

from typing import Final

from ..wire.bodies import listed, objects
from ..wire.reading import members
from ..wire.values import Json, JsonObject
from . import ai_sdk, genai, openinference, raw
from .imported import ImportedCall
from .lost import lost_in
from .messages import Heard, heard
from .moments import elapsed_ms
from .replies import Choice, reply_body, usage_of
from .shapes import shaped
from .span import Span, SpanCall
from .supplied import tools_for
from .unpacked import unpacked, unpacked_list, unpacked_object

GEMINI: Final = "a Gemini request, which cannot be rerun here"
_WRECK: Final = "the observation's input holds no messages that can be made out"
_DEFAULTS: Final[JsonObject] = {"temperature": 1, "top_p": 1, "frequency_penalty": 0, "presence_penalty": 0}
"""What the Python drop-in writes when nothing was sent."""
_NEVER_SENT: Final = (
    *("id", "created_at", "created", "object", "status", "usage", "billing", "service_tier", "truncation"),
    *("background", "completed_at", "error", "incomplete_details", "output", "model", "tools", "instructions"),
    *("max_retries", "timeout", "_type", "stream"),
)
"""Echoes of the response, and what stands elsewhere in the request."""
_REPLY_KEYS: Final = ("choices", "output")


def either(value: JsonObject, *keys: str) -> Json:
    """The value under the first of the keys that has one: exports and the API spell them differently."""
    return next((value[key] for key in keys if value.get(key) is not None), None)


def call_of(span: Span, value: JsonObject) -> SpanCall:
    """A generation as a call: by its OpenTelemetry attributes where they hold a request, else by input and output."""
    for reader in (openinference.call_in, ai_sdk.call_in, genai.call_in):
        found = reader(span) if span.attributes else None
        if found is not None and found.call.fidelity != "not rebuildable":
            return found
    given = unpacked(value.get("input"))
    told, body, api = _request(given, value)
    tools, lost = _tools(given, value, span, told), set(told.lost)
    params, uncertain = _params(value)
    model = body.get("model") or either(value, "model", "provided_model_name", "providedModelName")
    whole: JsonObject = {"model": model} if isinstance(model, str) else {}
    system = unpacked_object(either(value, "modelParameters", "model_parameters")).get("instructions")
    if isinstance(system, str) and "instructions" not in body and api == "responses":
        whole["instructions"] = system
    whole |= {**params, **body}
    if tools and "tools" not in body:
        whole["tools"] = tools_for(api, tools)
    if not whole.get("tools"):
        lost.add("tools")
    lost |= {"params", *lost_in(whole)}
    usable = bool(whole.get("messages") or whole.get("input"))
    wreck = GEMINI if "contents" in members(given) else _WRECK
    reply = _reply(unpacked(value.get("output")), api, value, model)
    call = ImportedCall(
        place=span.place,
        api=api,
        provider=raw.provider_of(api),
        endpoint=None,
        body=whole,
        reply=reply,
        fidelity="partial" if usable else "not rebuildable",
        missing=tuple(sorted(lost)) if usable else ("messages",),
        why=_UNCERTAIN if usable and uncertain else None if usable else wreck,
        started=span.started,
        latency_ms=elapsed_ms(span.started, span.ended),
        error=span.failure,
    )
    response = members(reply).get("id")
    return SpanCall(span, call, response if isinstance(response, str) and response else None)


_UNCERTAIN: Final = "parameters equal to the tracer's defaults were left out: they may never have been sent"


def _request(given: Json, value: JsonObject) -> tuple[Heard, JsonObject, str]:
    """What was heard, the keys of the body that hold it, and the API."""
    if isinstance(given, dict):
        if isinstance(given.get("messages"), list):
            extra: JsonObject = {}
            extra |= {key: item for key, item in given.items() if key not in ("messages", "tools") and item is not None}
            return _chat([*listed(given["messages"])], value, extra)
        if "input" in given and isinstance(given["input"], (list, str)):
            return Heard(), {key: item for key, item in given.items() if item is not None}, "responses"
        if isinstance(given.get("prompt"), str):
            return _chat([given["prompt"]], value, {})
        if isinstance(given.get("role"), str) and ("content" in given or "parts" in given):
            return _chat([given], value, {})
        return Heard(), {}, "chat.completions"
    if isinstance(given, list):
        if any(_is_item(item) for item in given):
            return Heard(), {"input": given}, "responses"
        if all(isinstance(item, (dict, list)) for item in given) and _are_messages(given):
            return _chat(given, value, {})
        return Heard(), {}, "chat.completions"
    return _chat([given], value, {}) if isinstance(given, str) and given else (Heard(), {}, "chat.completions")


def _are_messages(given: list[Json]) -> bool:
    known = ("user", "assistant", "system", "tool", "developer", "function", "model", "human", "ai")
    for item in given:
        for each in item if isinstance(item, list) else [item]:
            told = members(each)
            if told.get("role") in known or "kwargs" in told or told.get("type") in known:
                return True
    return False


def _is_item(item: Json) -> bool:
    told = members(item)
    if told.get("type") in ("function_call", "function_call_output", "reasoning", "message", "item_reference"):
        return True
    return any(part.get("type") in _ITEM_PARTS for _, part in objects(told.get("content")))


_ITEM_PARTS: Final = ("input_text", "input_image", "input_file", "output_text")


def _chat(given: list[Json], value: JsonObject, extra: JsonObject) -> tuple[Heard, JsonObject, str]:
    model = str(either(value, "model", "provided_model_name") or extra.get("model") or "")
    blocks = raw.api_of_body({"messages": given}) == "messages"
    if blocks and all("content" in members(item) and "lc" not in members(item) for item in given):
        return Heard(), {**extra, "messages": given}, "messages"
    told = heard(given)
    api = "messages" if "claude" in model.lower() and not extra.get("tools") else "chat.completions"
    return told, {**extra, **shaped(api, told.messages)} if told.messages else {}, api


def _tools(given: Json, value: JsonObject, span: Span, told: Heard) -> list[Json]:
    """Definitions of tools from every place where Langfuse's integrations leave them."""
    inside = unpacked_list(members(given).get("tools"))
    if inside:
        return inside
    named = unpacked(either(value, "toolDefinitions", "tool_definitions"))
    if isinstance(named, dict) and named:
        return [{"name": key, **unpacked_object(item)} for key, item in named.items()]
    metadata = unpacked_object(value.get("metadata"))
    params = unpacked_object(either(value, "modelParameters", "model_parameters"))
    for place in (
        named,
        metadata.get("tools"),
        span.attributes.get("ai.prompt.tools"),
        span.attributes.get("gen_ai.tool.definitions"),
        params.get("tools"),
        members(unpacked(params.get("invocation_params"))).get("tools"),
    ):
        listed = [unpacked(tool) for tool in unpacked_list(place)]
        if listed:
            return listed
    offered = unpacked_object(span.attributes.get("model_request_parameters"))
    if offered.get("function_tools"):
        return unpacked_list(offered["function_tools"])
    return told.tools


def _params(value: JsonObject) -> tuple[JsonObject, bool]:
    """Parameters that were sent for all that is known, and whether some were left out as a tracer's defaults."""
    given = unpacked_object(either(value, "modelParameters", "model_parameters"))
    numbers = {key: _number(item) for key, item in given.items() if item is not None and key not in _NEVER_SENT}
    is_default = set(_DEFAULTS) <= numbers.keys() and "max_tokens" in numbers
    kept_params: JsonObject = {}
    uncertain = False
    for key, item in numbers.items():
        if item in ("Infinity", "inf", "None", "") or (is_default and key in _DEFAULTS and item == _DEFAULTS[key]):
            uncertain = True
        else:
            kept_params[key] = item
    return kept_params, uncertain


def _number(value: Json) -> Json:
    if not isinstance(value, str):
        return value
    try:
        number = float(value)
    except ValueError:
        return unpacked(value)
    if number != number or number in (float("inf"), float("-inf")):  # noqa: PLR0124 -- no number
        return "Infinity"
    return int(number) if number.is_integer() and "." not in value else number


def _reply(output: Json, api: str, value: JsonObject, model: Json) -> Json:
    if output is None or output == "":
        return None
    if isinstance(output, dict):
        if any(key in output for key in _REPLY_KEYS) or (output.get("type") == "message" and api == "messages"):
            return output
        generated = output.get("generations") or output.get("message")
        if generated is not None:
            return _reply(_first(generated), api, value, model)
        if isinstance(output.get("completion"), (str, dict)):
            return _reply(output["completion"], api, value, model)
    if isinstance(output, list) and any(_is_item(item) for item in output):
        return {"object": "response", "status": "completed", "output": output}
    if isinstance(output, list) and output and all("toolName" in members(item) for item in output):
        output = {"role": "assistant", "content": None, "tool_calls": output}
    if isinstance(output, list) and api == "messages" and all("type" in members(item) for item in output):
        return {"type": "message", "role": "assistant", "content": output, "stop_reason": None}
    told = heard(output if isinstance(output, list) else [_as_answer(output)]).messages
    if not told:
        return None
    last = {**told[-1], "role": "assistant"}
    usage = members(either(value, "usageDetails", "usage_details", "usage"))
    tokens = usage_of(api, usage.get("input"), usage.get("output"))
    return reply_body(api, Choice(last, members(output).get("finish_reason")), model=model, usage=tokens)


def _as_answer(output: Json) -> Json:
    if isinstance(output, dict) and (
        "role" in output or "kwargs" in output or output.get("type") in ("ai", "AIMessage")
    ):
        return output
    if isinstance(output, dict) and "parts" in members(output.get("content")):
        return {**members(output["content"]), "role": "assistant"}
    if isinstance(output, dict) and ("content" in output or "tool_calls" in output):
        return {**output, "role": "assistant"}
    if isinstance(output, str):
        return {"role": "assistant", "content": output}
    return {"role": "assistant", "content": raw.spelled(output)}


def _first(value: Json) -> Json:
    while isinstance(value, list) and value:
        value = value[0]
    told = members(value)
    return told.get("message", told.get("text", value)) if told else value
