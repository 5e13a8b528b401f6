"""Langfuse: a trace downloaded in its UI, answers of its API, exports of observations, and its server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from ...wire.bodies import objects
from ...wire.reading import members
from ...wire.values import Json, JsonObject
from .. import ai_sdk, genai, openinference, raw
from ..imported import ImportedCall, ImportedRun, ImportedTool, Skipped
from ..lost import lost_in
from ..messages import Heard, heard
from ..moments import elapsed_ms, seconds
from ..nearest_calls import kept
from ..ordered import in_order
from ..registry import Format
from ..replies import reply_body, usage_of
from ..shapes import shaped
from ..source import Sample, Source
from ..span import Span, SpanCall
from ..spool import Spool
from ..supplied import tools_for
from ..unpacked import unpacked, unpacked_list, unpacked_object

_OPENED: Final = ("observations", "trace.observations", "data", "data.observations")
_STRUCTURE: Final = "an observation that is no model call and no run of a tool"
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


def recognise(sample: Sample) -> str | None:
    """See `Format`."""
    for value in sample.objects[:5]:
        if "observations" in value and ("trace" in value or "projectId" in value or "latency" in value):
            return "it holds `observations` beside a trace, as Langfuse's downloads and API answers do"
        for item in [value, *(each for _, each in objects(value.get("data"))[:1])]:
            if _is_observation(item):
                return "its records are observations with a type and a trace id, as Langfuse exports them"
            if "observations" in item and "projectId" in item:
                return "its records are traces with `observations`, as Langfuse's API gives them"
    return None


def _is_observation(value: JsonObject) -> bool:
    kind = value.get("type")
    named = "traceId" in value or "trace_id" in value
    return named and kind in _TYPES and ("startTime" in value or "start_time" in value)


_TYPES: Final = (
    *("GENERATION", "SPAN", "EVENT", "AGENT", "TOOL", "CHAIN"),
    *("RETRIEVER", "EVALUATOR", "GUARDRAIL", "EMBEDDING"),
)


def read(sources: Sequence[Source]) -> Iterator[ImportedRun | Skipped]:
    """See `Format`: the observations of a trace are a run."""
    with Spool() as spool:
        names: dict[str, str] = {}
        for source in sources:
            name = source.name.rpartition("/")[2]
            for record in source.records(_OPENED):
                place = f"{name}, {record.place}"
                value = record.value
                if record.problem is not None:
                    yield Skipped(place, record.problem)
                elif not isinstance(value, dict):
                    yield Skipped(place, "it is no object")
                elif _is_observation(value):
                    trace = str(value.get("traceId") or value.get("trace_id"))
                    at = seconds(_either(value, "startTime", "start_time")) or 0.0
                    spool.add(trace, at, {"place": place, "value": value})
                else:
                    yield from _trace(value, place, names)
        for trace, group in spool.groups():
            yield from _run(trace, names.get(trace), list(group))


def _trace(value: JsonObject, place: str, names: dict[str, str]) -> Iterator[Skipped]:
    """What stands around observations: a trace, or a page of an answer."""
    trace = members(value.get("trace")) or value
    identity, called = trace.get("id"), trace.get("name")
    if isinstance(identity, str) and isinstance(called, str):
        names[identity] = called
    if "observations" not in value and "observations" not in trace and "data" not in value:
        yield Skipped(place, "it is no observation: a trace alone holds no model call; export the observations")
    elif any(isinstance(item, str) for item in unpacked_list(value.get("observations"))):
        yield Skipped(place, "its observations are ids only; fetch the trace with them")


def _either(value: JsonObject, *keys: str) -> Json:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _merged(group: list[JsonObject]) -> list[JsonObject]:
    """Every observation once: downloads list them a second time, without input and output."""
    found: dict[str, JsonObject] = {}
    for item in group:
        value = members(item["value"])
        known = found.setdefault(str(value.get("id") or item["place"]), {"place": item["place"], "value": {}})
        filled = {key: given for key, given in value.items() if given is not None}
        known["value"] = {**value, **members(known["value"]), **filled}
    return [*found.values()]


def _run(trace: str, name: str | None, group: list[JsonObject]) -> Iterator[ImportedRun | Skipped]:
    group = _merged(group)
    spans = [_span(trace, str(item["place"]), members(item["value"])) for item in group]
    calls: list[SpanCall] = []
    events: list[ImportedCall | ImportedTool] = []
    for span, item in zip(spans, group, strict=True):
        value = members(item["value"])
        if value.get("type") == "GENERATION":
            calls.append(_call(span, value))
        elif value.get("type") == "TOOL" or _ran_for_a_call(value):
            events.append(_tool(span, value))
        else:
            yield Skipped(span.place, _STRUCTURE, notable=False)
    best, doubles = kept(calls, spans)
    for call, reason in doubles:
        yield Skipped(call.span.place, reason, notable=False)
    asked = {
        str(members(tool.get("function")).get("name"))
        for call in best
        for _, choice in objects(members(call.call.reply).get("choices"))
        for _, tool in objects(members(choice.get("message")).get("tool_calls"))
    }
    for span, item in zip(spans, group, strict=True):
        value = members(item["value"])
        if value.get("type") == "SPAN" and span.name in asked and not _ran_for_a_call(value):
            events.append(_tool(span, value))
    found = in_order([*_with_history([call.call for call in best]), *events])
    if found:
        called = name or next((span.name for span in spans if span.parent is None), trace)
        yield ImportedRun(called or trace, found, found[0].started, {"trace_id": trace})


def _ran_for_a_call(value: JsonObject) -> bool:
    attributes = members(unpacked_object(value.get("metadata")).get("attributes"))
    return value.get("type") == "SPAN" and attributes.get("gen_ai.operation.name") == "execute_tool"


def _tool(span: Span, value: JsonObject) -> ImportedTool:
    output = unpacked(value.get("output"))
    told = members(output)
    content = told.get("content") if "content" in told else members(told.get("kwargs")).get("content")
    call_id = told.get("tool_call_id") or members(told.get("kwargs")).get("tool_call_id")
    return ImportedTool(
        place=span.place,
        name=span.name,
        arguments=unpacked(value.get("input"), printed=True),
        result=content if content is not None else output,
        error=span.failure,
        call_id=call_id if isinstance(call_id, str) and call_id else None,
        started=span.started,
        latency_ms=span.latency_ms,
    )


def _span(trace: str, place: str, value: JsonObject) -> Span:
    metadata = unpacked_object(value.get("metadata"))
    attributes = members(unpacked(metadata.get("attributes")))
    told = _either(value, "statusMessage", "status_message")
    scope = members(unpacked(metadata.get("scope"))).get("name")
    identity = str(value.get("id") or place)
    parent = _either(value, "parentObservationId", "parent_observation_id")
    return Span(
        place=f"observation {identity} ({place})",
        trace=trace,
        id=identity,
        parent=parent if isinstance(parent, str) and parent else None,
        name=str(value.get("name") or ""),
        scope=scope if isinstance(scope, str) else "",
        started=seconds(_either(value, "startTime", "start_time")),
        ended=seconds(_either(value, "endTime", "end_time")),
        attributes=attributes,
        error=(told if isinstance(told, str) and told else "error") if value.get("level") == "ERROR" else None,
    )


def _call(span: Span, value: JsonObject) -> SpanCall:
    """A generation: by its OpenTelemetry attributes where they hold a request, else by its input and output."""
    for reader in (openinference.call_in, ai_sdk.call_in, genai.call_in):
        found = reader(span) if span.attributes else None
        if found is not None and found.call.fidelity != "not rebuildable":
            return found
    given = unpacked(value.get("input"))
    told, body, api = _request(given, value)
    tools, lost = _tools(given, value, span, told), set(told.lost)
    params, uncertain = _params(value)
    model = body.get("model") or _either(value, "model", "provided_model_name", "providedModelName")
    whole: JsonObject = {"model": model} if isinstance(model, str) else {}
    system = unpacked_object(_either(value, "modelParameters", "model_parameters")).get("instructions")
    if isinstance(system, str) and "instructions" not in body and api == "responses":
        whole["instructions"] = system
    whole |= {**params, **body}
    if tools and "tools" not in body:
        whole["tools"] = tools_for(api, tools)
    if not whole.get("tools"):
        lost.add("tools")
    lost |= {"params", *lost_in(whole)}
    usable = bool(whole.get("messages") or whole.get("input"))
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
        why=_UNCERTAIN if usable and uncertain else None if usable else _WRECK,
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
            return _chat([*_listed(given["messages"])], value, extra)
        if "input" in given and isinstance(given["input"], (list, str)):
            return Heard(), {key: item for key, item in given.items() if item is not None}, "responses"
        if "contents" in given and "config" in given:
            return Heard(), {}, "chat.completions"
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


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _are_messages(given: list[Json]) -> bool:
    known = ("user", "assistant", "system", "tool", "developer", "function", "model", "human", "ai")
    for item in given:
        for each in item if isinstance(item, list) else [item]:
            told = members(each)
            if told.get("role") in known or "kwargs" in told or told.get("type") in known:
                return True
    return False


def _is_item(item: Json) -> bool:
    return members(item).get("type") in (
        "function_call",
        "function_call_output",
        "reasoning",
        "message",
        "item_reference",
    )


def _chat(given: list[Json], value: JsonObject, extra: JsonObject) -> tuple[Heard, JsonObject, str]:
    model = str(_either(value, "model", "provided_model_name") or extra.get("model") or "")
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
    named = unpacked(_either(value, "toolDefinitions", "tool_definitions"))
    if isinstance(named, dict) and named:
        return [{"name": key, **unpacked_object(item)} for key, item in named.items()]
    metadata = unpacked_object(value.get("metadata"))
    params = unpacked_object(_either(value, "modelParameters", "model_parameters"))
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
    given = unpacked_object(_either(value, "modelParameters", "model_parameters"))
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
    usage = members(_either(value, "usageDetails", "usage_details", "usage"))
    tokens = usage_of(api, usage.get("input"), usage.get("output"))
    return reply_body(api, last, finish=members(output).get("finish_reason"), model=model, usage=tokens)


def _as_answer(output: Json) -> Json:
    if isinstance(output, dict) and (
        "role" in output or "kwargs" in output or output.get("type") in ("ai", "AIMessage")
    ):
        return output
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


def _with_history(calls: list[ImportedCall]) -> list[ImportedCall]:
    """Calls whose input begins with a tool's result hold only what is new: the call before it is put in front."""
    found: list[ImportedCall] = []
    for call in in_order(calls):
        listed = _listed(call.body.get("messages"))
        before = found[-1] if found else None
        if (
            listed
            and before is not None
            and call.api == before.api == "chat.completions"
            and members(listed[0]).get("role") == "tool"
        ):
            answer = [members(choice.get("message")) for _, choice in objects(members(before.reply).get("choices"))]
            history = [*_listed(before.body.get("messages")), *answer[:1]]
            told = f"{call.why}; " if call.why else ""
            body = {**call.body, "messages": [*history, *listed]}
            found.append(
                replace(call, body=body, why=f"{told}the history before the tool's result is that of the call before")
            )
        else:
            found.append(call)
    return found


FORMAT = Format(
    "langfuse",
    "Langfuse",
    "`observations` beside a trace, or records with `type` GENERATION, SPAN, ... and a trace id",
    recognise,
    read,
)
