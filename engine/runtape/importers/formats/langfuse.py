"""Langfuse: a trace downloaded in its UI, answers of its API, exports of observations, and its server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from ...wire.bodies import listed, objects
from ...wire.reading import members
from ...wire.values import Json, JsonObject
from ..imported import ImportedCall, ImportedRun, ImportedTool, Skipped
from ..langfuse_generation import call_of, either
from ..moments import seconds
from ..nearest_calls import kept
from ..registry import Format
from ..rejoined import PART, is_turn, rejoined
from ..shelf import Shelf, Shelved, begin, light, light_call
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
            yield from _run(trace, names.get(trace), group)


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


def _once(group: Iterator[JsonObject]) -> Iterator[JsonObject]:
    """Every observation once: downloads list them a second time, without input and output, with the same start."""
    together: list[JsonObject] = []
    start: Json = None
    for item in group:
        began = either(members(item["value"]), "startTime", "start_time")
        if together and began != start:
            yield from _merged(together)
            together = []
        start = began
        together.append(item)
    yield from _merged(together)


def _merged(group: list[JsonObject]) -> Iterator[JsonObject]:
    found: dict[str, JsonObject] = {}
    for item in group:
        value = members(item["value"])
        known = found.setdefault(str(value.get("id") or item["place"]), {"place": item["place"], "value": {}})
        filled = {key: given for key, given in value.items() if given is not None}
        known["value"] = {**value, **members(known["value"]), **filled}
    yield from found.values()


def _run(trace: str, name: str | None, group: Iterator[JsonObject]) -> Iterator[ImportedRun | Skipped]:
    spans: list[Span] = []
    calls: dict[str, tuple[SpanCall, Shelved]] = {}
    tools: list[tuple[str | None, Shelved]] = []
    """Runs of tools, and observations that are some where a call asked for one of their name."""
    asked: set[str] = set()
    with Shelf() as shelf:
        for item in _once(group):
            value = members(item["value"])
            span = _span(trace, str(item["place"]), value)
            spans.append(light(span))
            if value.get("type") == "GENERATION":
                call = call_of(span, value)
                asked |= _asked(call.call)
                reply = call.call.reply if is_turn(call) else None
                bare = light_call(call)
                calls[span.id] = (replace(bare, call=replace(bare.call, reply=reply)), shelf.put(call.call))
            elif value.get("type") == "TOOL" or _ran_for_a_call(value):
                tools.append((None, shelf.put(_tool(span, value))))
            else:
                yield Skipped(span.place, _STRUCTURE, notable=False)
                if value.get("type") == "SPAN":
                    tools.append((span.name, shelf.put(_tool(span, value))))
        best, doubles = kept([call for call, _ in calls.values()], spans)
        best, parts = rejoined(best, [slot.started for named, slot in tools if named is None])
        for call, reason in (*doubles, *((part, PART) for part in parts)):
            yield Skipped(call.span.place, reason, notable=False)
        replies = {calls[call.span.id][1].number: call.call.reply for call in best if call.call.reply is not None}
        slots = [calls[call.span.id][1] for call in best]
        slots += [slot for named, slot in tools if named is None or named in asked]
        if slots:
            called = name or next((span.name for span in spans if span.parent is None), trace)
            slots.sort(key=lambda slot: slot.number)
            events = _with_history(shelf.in_order(slots, replies))
            yield ImportedRun(called or trace, events, begin(slots), {"trace_id": trace})


def _asked(call: ImportedCall) -> set[str]:
    """Names of the tools that a reply asks for."""
    return {
        str(members(tool.get("function")).get("name"))
        for _, choice in objects(members(call.reply).get("choices"))
        for _, tool in objects(members(choice.get("message")).get("tool_calls"))
    }


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


def _with_history(events: Iterator[ImportedCall | ImportedTool]) -> Iterator[ImportedCall | ImportedTool]:
    """Calls whose input begins with a tool's result hold only what is new: the call before it is put in front."""
    before: ImportedCall | None = None
    for event in events:
        if isinstance(event, ImportedTool):
            yield event
            continue
        said = listed(event.body.get("messages"))
        told = event
        if (
            said
            and before is not None
            and event.api == before.api == "chat.completions"
            and members(said[0]).get("role") == "tool"
        ):
            answer = [members(choice.get("message")) for _, choice in objects(members(before.reply).get("choices"))]
            body = {**event.body, "messages": [*listed(before.body.get("messages")), *answer[:1], *said]}
            why = "the history before the tool's result is that of the call before"
            told = replace(event, body=body, why=f"{event.why}; {why}" if event.why else why)
        before = told
        yield told


FORMAT = Format(
    "langfuse",
    "Langfuse",
    "`observations` beside a trace, or records with `type` GENERATION, SPAN, ... and a trace id",
    recognise,
    read,
)
