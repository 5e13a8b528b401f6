"""OpenTelemetry spans and log records, by whichever of the conventions for model calls they are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Final

from ...wire.reading import members
from ...wire.values import Json, JsonObject
from .. import ai_sdk, genai, langfuse_spans, openinference, tool_spans
from ..imported import ImportedRun, Skipped
from ..json_cut import Record
from ..langfuse_generation import GEMINI
from ..nearest_calls import kept
from ..registry import Format
from ..shelf import Shelf, Shelved, begin, light, light_call
from ..source import Sample, Source
from ..span import Span, SpanCall, SpanEvent
from ..span_records import OPENED, span_of
from ..spool import Spool

_ENVELOPES: Final = ("resourceSpans", "resource_spans", "resourceLogs", "resource_logs")
_STRUCTURE: Final = "a span that is no model call and no run of a tool"
_NEITHER: Final = "it is neither a span nor a log record of a span"


def recognise(sample: Sample) -> str | None:
    """See `Format`."""
    for value in sample.objects[:5]:
        named = next((key for key in _ENVELOPES if key in value), None)
        if named is not None:
            return f"it holds `{named}`, as OTLP JSON does"
        context = members(value.get("context"))
        if "trace_id" in context and "span_id" in context:
            phoenix = "span_kind" in value or "status_code" in value
            return "its records have `context.trace_id`, as " + (
                "Phoenix exports do" if phoenix else "the console exporter prints them"
            )
        if {"body", "trace_id", "span_id"} <= value.keys() or {"body", "traceId", "spanId"} <= value.keys():
            return "its records are log records with `trace_id` and `span_id`"
        if {"trace_id", "span_id", "attributes"} <= value.keys() or {"traceId", "spanId", "attributes"} <= value.keys():
            return "its records are spans with trace and span ids"
        data = value.get("data")
        first = _first(data)
        if "traceID" in first:
            return "it holds `data[].traceID`, as Jaeger's JSON does"
        if "trace_id" in members(first.get("context")):
            return "it holds `data[].context.trace_id`, as answers of Phoenix do"
        if "resourceSpans" in members(value.get("trace")) or "scopeSpans" in _first(value.get("batches")):
            return "it holds `trace.resourceSpans` or `batches`, as answers of Tempo do"
    return None


def _first(value: Json) -> JsonObject:
    return members(value[0]) if isinstance(value, list) and value else {}


def read(sources: Sequence[Source]) -> Iterator[ImportedRun | Skipped]:
    """See `Format`: spans and log records of all files are put together; a trace is a run."""
    with Spool() as spool:
        for source in sources:
            name = source.name.rpartition("/")[2]
            for record in source.records(OPENED):
                yield from _kept(record, name, spool)
        for trace, group in spool.groups():
            yield from _run(trace, group)


def _kept(record: Record, name: str, spool: Spool) -> Iterator[Skipped]:
    if record.problem is not None:
        yield Skipped(f"{name}, {record.place}", record.problem)
        return
    found = span_of(record, name)
    if isinstance(found, Span):
        spool.add(found.trace, found.started or 0.0, {"span": asdict(found)})
    elif found is not None:
        trace, span, event = found
        spool.add(trace, -1.0, {"of": span, "event": asdict(event)})
    elif not _is_envelope(record):
        yield Skipped(f"{name}, {record.place}", _NEITHER)


def _is_envelope(record: Record) -> bool:
    """True for what only held spans: it has a list that was read element by element, and is empty by now."""
    within = f"{record.within}." if record.within else ""
    return any(f"{within}{key}" in OPENED for key in members(record.value))


def _run(trace: str, group: Iterator[JsonObject]) -> Iterator[ImportedRun | Skipped]:
    """One trace: its log records come first, then its spans by their start."""
    logs: dict[str, list[SpanEvent]] = {}
    read = _Trace()
    with Shelf() as shelf:
        for item in group:
            if "event" in item:
                logs.setdefault(str(item["of"]), []).append(_event(members(item["event"])))
            else:
                yield from read.take(_span(members(item["span"]), logs), shelf)
        for named, told in logs.items():
            if named in read.known:
                continue
            if not any(event.name == genai.DETAILS for event in told):
                yield Skipped(
                    f"trace {trace}, span {named}", "log records whose span is in none of the files; give both files"
                )
            if any(event.name in ("gen_ai.choice", genai.DETAILS) for event in told):
                yield from read.take(_from_logs(trace, named, told), shelf)
        best, doubles = kept([call for call, _ in read.calls], read.spans)
        for call, reason in doubles:
            yield Skipped(call.span.place, reason, notable=False)
        stay = {id(call) for call in best}
        slots = [slot for call, slot in read.found if call is None or id(call) in stay]
        if slots:
            root = next((span for span in read.spans if span.parent is None), read.spans[0])
            yield ImportedRun(root.name or trace, shelf.in_order(slots), begin(slots), {"trace_id": trace})


@dataclass(slots=True)
class _Trace:
    """What is known of the spans of a trace, without their content."""

    spans: list[Span] = field(default_factory=list[Span])
    known: set[str] = field(default_factory=set[str])
    found: list[tuple[SpanCall | None, Shelved]] = field(default_factory=list["tuple[SpanCall | None, Shelved]"])

    @property
    def calls(self) -> list[tuple[SpanCall, Shelved]]:
        return [(call, slot) for call, slot in self.found if call is not None]

    def take(self, span: Span, shelf: Shelf) -> Iterator[Skipped]:
        self.spans.append(light(span))
        self.known.add(span.id)
        call = _call(span)
        tool = None if call is not None else langfuse_spans.tool_in(span) or tool_spans.tool_in(span)
        if call is not None:
            self.found.append((light_call(call), shelf.put(call.call)))
        elif tool is not None:
            self.found.append((None, shelf.put(tool)))
        elif "gcp.vertex.agent.llm_request" in span.attributes and span.name.startswith("call_llm"):
            yield Skipped(span.place, GEMINI)
        else:
            yield Skipped(span.place, _STRUCTURE, notable=False)


def _call(span: Span) -> SpanCall | None:
    for reader in (openinference.call_in, ai_sdk.call_in, langfuse_spans.call_in, genai.call_in):
        found = reader(span)
        if found is not None:
            return found
    return None


def _from_logs(trace: str, span: str, events: list[SpanEvent]) -> Span:
    """A call that only log records tell of."""
    attributes: JsonObject = {"gen_ai.operation.name": "chat"}
    for event in events:
        attributes |= {key: value for key, value in event.attributes.items() if key.startswith("gen_ai.")}
    times = [event.at for event in events if event.at is not None]
    start, end = (min(times), max(times)) if times else (None, None)
    return Span(f"log records of span {span}", trace, span, None, "", "", start, end, attributes, events)


def _span(value: JsonObject, logs: dict[str, list[SpanEvent]]) -> Span:
    own = value["events"]
    events = [_event(members(event)) for event in own] if isinstance(own, list) else []
    return Span(
        place=str(value["place"]),
        trace=str(value["trace"]),
        id=str(value["id"]),
        parent=_text(value["parent"]),
        name=str(value["name"]),
        scope=str(value["scope"]),
        started=_number(value["started"]),
        ended=_number(value["ended"]),
        attributes=members(value["attributes"]),
        events=[*events, *logs.get(str(value["id"]), ())],
        error=_text(value["error"]),
    )


def _event(value: JsonObject) -> SpanEvent:
    return SpanEvent(str(value["name"]), members(value["attributes"]), value["body"], _number(value["at"]))


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Json) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


FORMAT = Format(
    "opentelemetry",
    "OpenTelemetry",
    "OTLP JSON (`resourceSpans`, `resourceLogs`), spans with `context.trace_id`, log records with `trace_id`",
    recognise,
    read,
)
