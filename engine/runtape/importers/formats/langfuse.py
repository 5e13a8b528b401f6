"""Langfuse: a trace downloaded in its UI, answers of its API, exports of observations, and its server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from ...wire.bodies import listed, objects
from ...wire.reading import members
from ...wire.values import JsonObject
from ..imported import ImportedCall, ImportedRun, ImportedTool, Skipped
from ..langfuse_generation import call_of, either
from ..moments import seconds
from ..nearest_calls import kept
from ..ordered import in_order
from ..registry import Format
from ..rejoined import PART, rejoined
from ..source import Sample, Source
from ..span import Span, SpanCall
from ..spool import Spool
from ..unpacked import unpacked, unpacked_list, unpacked_object

_OPENED: Final = ("observations", "trace.observations", "data", "data.observations")
_IDS: Final = "its observations are ids only; fetch the trace with them"
_STRUCTURE: Final = "an observation that is no model call and no run of a tool"


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
                    is_ids = record.within.endswith("observations") and record.value is None
                    yield Skipped(place, _IDS if is_ids and '"' in record.problem else record.problem)
                elif not isinstance(value, dict):
                    yield Skipped(place, "it is no object")
                elif _is_observation(value):
                    trace = str(value.get("traceId") or value.get("trace_id"))
                    at = seconds(either(value, "startTime", "start_time")) or 0.0
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
        yield Skipped(place, _IDS)


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
            calls.append(call_of(span, value))
        elif value.get("type") == "TOOL" or _ran_for_a_call(value):
            events.append(_tool(span, value))
        else:
            yield Skipped(span.place, _STRUCTURE, notable=False)
    best, doubles = kept(calls, spans)
    for call, reason in doubles:
        yield Skipped(call.span.place, reason, notable=False)
    best, parts = rejoined(best, [event.started for event in events if isinstance(event, ImportedTool)])
    for call in parts:
        yield Skipped(call.span.place, PART, notable=False)
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
    told = either(value, "statusMessage", "status_message")
    scope = members(unpacked(metadata.get("scope"))).get("name")
    identity = str(value.get("id") or place)
    parent = either(value, "parentObservationId", "parent_observation_id")
    return Span(
        place=f"observation {identity} ({place})",
        trace=trace,
        id=identity,
        parent=parent if isinstance(parent, str) and parent else None,
        name=str(value.get("name") or ""),
        scope=scope if isinstance(scope, str) else "",
        started=seconds(either(value, "startTime", "start_time")),
        ended=seconds(either(value, "endTime", "end_time")),
        attributes=attributes,
        error=(told if isinstance(told, str) and told else "error") if value.get("level") == "ERROR" else None,
    )


def _with_history(calls: list[ImportedCall]) -> list[ImportedCall]:
    """Calls whose input begins with a tool's result hold only what is new: the call before it is put in front."""
    found: list[ImportedCall] = []
    for call in in_order(calls):
        said = listed(call.body.get("messages"))
        before = found[-1] if found else None
        if (
            said
            and before is not None
            and call.api == before.api == "chat.completions"
            and members(said[0]).get("role") == "tool"
        ):
            answer = [members(choice.get("message")) for _, choice in objects(members(before.reply).get("choices"))]
            history = [*listed(before.body.get("messages")), *answer[:1]]
            told = f"{call.why}; " if call.why else ""
            body = {**call.body, "messages": [*history, *said]}
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
