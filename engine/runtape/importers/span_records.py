"""Spans and log records out of every envelope they come in: OTLP JSON, console output, Jaeger, Phoenix."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Final

from ..wire.bodies import objects
from ..wire.reading import members
from ..wire.values import Json, JsonObject
from .json_cut import Record
from .moments import seconds
from .span import Span, SpanEvent, first_of
from .unpacked import unpacked_object

_SPANS: Final = ("resourceSpans.scopeSpans.spans", "resourceSpans.instrumentationLibrarySpans.spans")
_LOGS: Final = ("resourceLogs.scopeLogs.logRecords",)
_SNAKE: Final = ("resource_spans.scope_spans.spans", "resource_logs.scope_logs.log_records")
_TEMPO: Final = (
    *(f"batches.{kind}.spans" for kind in ("scopeSpans", "instrumentationLibrarySpans")),
    "trace.resourceSpans.scopeSpans.spans",
)
_JAEGER: Final = "data.spans"
"""Of answers of Phoenix, `data` holds the spans themselves."""


def _with_parents(paths: tuple[str, ...]) -> frozenset[str]:
    return frozenset(".".join(path.split(".")[:depth]) for path in paths for depth in range(1, path.count(".") + 2))


OPENED: Final = _with_parents((*_SPANS, *_LOGS, *_SNAKE, *_TEMPO, _JAEGER)) | {"spans"}
"""Lists that are read element by element."""

_WITHIN: Final = {*_SPANS, *_LOGS, *_SNAKE, *_TEMPO, _JAEGER, "spans", "data"}


def span_of(record: Record, source: str) -> Span | tuple[str, str, SpanEvent] | None:
    """A span; or the trace, the span and the event that a log record is; None for what is neither."""
    value = record.value
    if not isinstance(value, dict) or (record.within and record.within not in _WITHIN):
        return None
    place = f"{source}, {record.place}"
    context = members(value.get("context"))
    if "traceID" in value and "tags" in value:
        return _jaeger(value, place)
    trace = _id(first_of(value, "traceId", "trace_id") or context.get("trace_id"))
    if _is_log(value):
        event = _log(value)
        return (trace, _id(first_of(value, "spanId", "span_id")), event) if trace else None
    identity = _id(first_of(value, "spanId", "span_id") or context.get("span_id"))
    if not trace or not identity:
        return None
    attributes = _attributes(value.get("attributes"))
    status, error = value.get("status"), None
    code = members(status).get("code") or members(status).get("status_code") or value.get("status_code")
    if code in ("ERROR", "STATUS_CODE_ERROR", 2, "Error"):
        told = members(status).get("message") or members(status).get("description") or value.get("status_message")
        error = told if isinstance(told, str) and told else "error"
    kind = value.get("span_kind")
    if isinstance(kind, str) and "openinference.span.kind" not in attributes and "." not in kind:
        attributes["openinference.span.kind"] = kind
    return Span(
        place=f"span {identity} ({place})",
        trace=trace,
        id=identity,
        parent=_id(first_of(value, "parentSpanId", "parent_span_id", "parent_id")) or None,
        name=str(value.get("name") or ""),
        scope=_scope(value) or _scope(members(record.around)),
        started=_time(first_of(value, "startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime")),
        ended=_time(first_of(value, "endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")),
        attributes=attributes,
        events=[_event(event) for _, event in objects(value.get("events"))],
        error=error,
    )


def _scope(value: JsonObject) -> str:
    for key in ("scope", "instrumentation_scope", "instrumentationScope"):
        name = members(value.get(key)).get("name")
        if isinstance(name, str):
            return name
    return ""


def _is_log(value: JsonObject) -> bool:
    if any(key in value for key in ("startTimeUnixNano", "start_time", "start_time_unix_nano", "startTime")):
        return False
    return "body" in value or any(
        key in value for key in ("severityNumber", "severity_number", "eventName", "event_name")
    )


def _log(value: JsonObject) -> SpanEvent:
    attributes = _attributes(value.get("attributes"))
    named = first_of(value, "eventName", "event_name") or attributes.get("event.name")
    body = value.get("body")
    times = ("timeUnixNano", "time_unix_nano", "timestamp")
    at = _time(first_of(value, *times, *(f"observed{key[0].upper()}{key[1:]}" for key in times), "observed_timestamp"))
    named = named if isinstance(named, str) else ""
    return SpanEvent(named, attributes, _value(body) if _is_any(body) else body, at)


def _event(event: JsonObject) -> SpanEvent:
    name = event.get("name")
    return SpanEvent(name if isinstance(name, str) else "", _attributes(event.get("attributes")))


def _jaeger(value: JsonObject, place: str) -> Span:
    tags: JsonObject = {str(tag.get("key")): tag.get("value") for _, tag in objects(value.get("tags"))}
    parent = next(
        (ref.get("spanID") for _, ref in objects(value.get("references")) if ref.get("refType") == "CHILD_OF"), None
    )
    start, took = value.get("startTime"), value.get("duration")
    started = start / 1e6 if isinstance(start, (int, float)) else None
    scope = tags.get("otel.library.name") or tags.get("otel.scope.name")
    events = [
        SpanEvent(str(fields.get("event", fields.get("name", ""))), fields)
        for _, log in objects(value.get("logs"))
        if (fields := {str(tag.get("key")): tag.get("value") for _, tag in objects(log.get("fields"))})
    ]
    return Span(
        place=f"span {value.get('spanID')} ({place})",
        trace=_id(value.get("traceID")),
        id=_id(value.get("spanID")),
        parent=_id(parent) or None,
        name=str(value.get("operationName") or ""),
        scope=scope if isinstance(scope, str) else "",
        started=started,
        ended=started + took / 1e6 if started is not None and isinstance(took, (int, float)) else None,
        attributes=tags,
        events=events,
        error="error" if tags.get("error") in (True, "true") else None,
    )


_BASE64_IDS: Final = (12, 24)
"""Characters of a span's and of a trace's id where protobuf's own JSON spells bytes."""


def _id(value: Json) -> str:
    if not isinstance(value, str):
        return ""
    text = value.removeprefix("0x")
    if len(text) in _BASE64_IDS and text.endswith("="):
        try:
            return base64.b64decode(text, validate=True).hex()
        except (binascii.Error, ValueError):
            return text
    return text.lower() if text.strip("0") else ""


def _time(value: Json) -> float | None:
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if isinstance(value, int) and value > _NANOSECONDS_FROM:
        return value / 1e9
    return seconds(value)


_NANOSECONDS_FROM: Final = 10**16


def _attributes(value: Json) -> JsonObject:
    """Attributes of OTLP (`[{key, value}]`), plain ones, nested ones made flat, or an object in a text."""
    if isinstance(value, list):
        return {str(item.get("key")): _value(item.get("value")) for _, item in objects(value)}
    found = unpacked_object(value)
    flat: JsonObject = {}
    for key, item in found.items():
        if (key in _ROOTS and isinstance(item, dict)) or (key in _DOTTED and isinstance(item, list)):
            flat.update(_flattened(item, key))
        else:
            flat[key] = item
    return flat


_ROOTS: Final = ("llm", "input", "output", "openinference", "gen_ai", "tool", "metadata", "session", "ai", "traceloop")
"""Where Phoenix nests the attributes by their dots."""
_DOTTED: Final = ("llm.input_messages", "llm.output_messages", "llm.tools")
"""Lists that it gives with dots in the keys of their objects."""
_WHOLE: Final = (
    "metadata",
    "json_schema",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.tool.definitions",
)


def _flattened(value: Json, path: str) -> Iterator[tuple[str, Json]]:
    if path in _WHOLE or path.endswith("json_schema"):
        yield path, value
    elif isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _flattened(item, f"{path}.{key}")
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for index, item in enumerate(value):
            yield from _flattened(item, f"{path}.{index}")
    else:
        yield path, value


def _is_any(value: Json) -> bool:
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)) in _KINDS


def _value(value: Json) -> Json:
    """A value of OTLP, whose type is named beside it."""
    told = members(value)
    if not _is_any(value):
        return value if not isinstance(value, dict) or value else None
    key, item = next(iter(told.items()))
    kind = _KINDS[key]
    if kind == "int" and isinstance(item, str):
        try:
            return int(item)
        except ValueError:
            return item
    if kind == "array":
        listed = members(item).get("values")
        return [_value(each) for each in listed] if isinstance(listed, list) else []
    if kind == "object":
        return {str(each.get("key")): _value(each.get("value")) for _, each in objects(members(item).get("values"))}
    return item


_KINDS: Final = {
    "stringValue": "text",
    "string_value": "text",
    "intValue": "int",
    "int_value": "int",
    "doubleValue": "number",
    "double_value": "number",
    "boolValue": "flag",
    "bool_value": "flag",
    "bytesValue": "bytes",
    "bytes_value": "bytes",
    "arrayValue": "array",
    "array_value": "array",
    "kvlistValue": "object",
    "kvlist_value": "object",
}
