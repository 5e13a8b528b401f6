"""Spans of the OpenAI Agents SDK as runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..wire.bodies import listed, objects
from ..wire.reading import members, parsed, text_or_none
from ..wire.values import Json, JsonObject
from .imported import ImportedCall, ImportedEvent, ImportedNote, ImportedRun, ImportedTool, Skipped
from .json_stream import Record
from .lost import lost_in
from .moments import elapsed_ms, seconds

_NOT_SENT: Final = ("base_url", "include_usage", "retry", "timeout", "response_include", "context_management")
_ECHOED: Final = (
    "instructions",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "text",
    "reasoning",
    "temperature",
    "top_p",
)
_NO_CONTENT: Final = (
    "the exported span of a Responses call holds only the response's id. Record the run with runtape, or export with "
    "OpenInference's openai-agents instrumentation, or keep `input` and `response` of the span in your own processor"
)


def trace_runs(records: list[Record], name: str) -> Iterator[ImportedRun | Skipped]:
    """One run per trace, its spans in the order of their start."""
    traces: dict[str, list[Record]] = {}
    heads: dict[str, JsonObject] = {}
    for record in records:
        value = members(record.value)
        if value.get("object") == "trace":
            heads[str(value.get("id"))] = value
        else:
            traces.setdefault(str(value.get("trace_id")), []).append(record)
    for trace_id in heads.keys() - traces.keys():
        yield Skipped(trace_id, "a trace without spans")
    for trace_id, spans in traces.items():
        found: list[ImportedEvent] = []
        known = {str(members(span.value).get("id")): members(span.value) for span in spans}
        for span in sorted(spans, key=_start):
            event = _event(span, known)
            if isinstance(event, Skipped):
                yield event
            else:
                found.append(event)
        if not any(isinstance(event, ImportedCall) for event in found):
            yield Skipped(trace_id, "a trace without a model call")
            continue
        head = heads.get(trace_id, {})
        tags: JsonObject = {
            "trace_id": trace_id,
            **{key: head[key] for key in ("workflow_name", "group_id") if key in head},
        }
        label = name if len(traces) == 1 else f"{name} {trace_id}"
        yield ImportedRun(label, found, found[0].started, tags)


def _start(record: Record) -> float:
    return seconds(members(record.value).get("started_at")) or 0.0


def _event(record: Record, known: dict[str, JsonObject]) -> ImportedEvent | Skipped:
    span = members(record.value)
    data = members(span.get("span_data"))
    kind = data.get("type")
    started = seconds(span.get("started_at"))
    took = elapsed_ms(started, seconds(span.get("ended_at")))
    place = f"span {span.get('id')}"
    error = members(span.get("error")) or None
    if kind == "generation":
        return _generation(place, span, known)
    if kind == "response":
        return _response(place, data, started, took, error)
    if kind == "function":
        given, output = data.get("input"), data.get("output")
        value = parsed(given) if isinstance(given, str) else given
        name = text_or_none(data.get("name")) or "unknown"
        return ImportedTool(place, name, given if value is None else value, output, _failed(error), None, started, took)
    if kind in ("handoff", "guardrail"):
        facts = {key: item for key, item in data.items() if key != "type"}
        return ImportedNote(place, str(kind), facts, started)
    return Skipped(place, f"a span of type {kind!r}, no model call", notable=False)


def _failed(error: JsonObject | None) -> JsonObject | None:
    return None if error is None else {"type": "error", "message": str(error.get("message", error))}


def _generation(place: str, span: JsonObject, known: dict[str, JsonObject]) -> ImportedCall:
    data = members(span.get("span_data"))
    started = seconds(span.get("started_at"))
    config = members(data.get("model_config"))
    body: JsonObject = {"model": data["model"]} if isinstance(data.get("model"), str) else {}
    messages = data.get("input")
    body["messages"] = messages if isinstance(messages, list) else []
    body |= {key: value for key, value in config.items() if value is not None and key not in _NOT_SENT}
    reply = next((message for _, message in objects(data.get("output"))), None)
    choice: JsonObject = {"index": 0, "message": reply, "finish_reason": None}
    missing = [*_unknown(known, span), "params", *lost_in(messages)]
    url = text_or_none(config.get("base_url"))
    known_input = isinstance(messages, list)
    return ImportedCall(
        place=place,
        api="chat.completions",
        provider="openai",
        endpoint=None if url is None else url.rstrip("/"),
        body=body if known_input else {},
        reply=None if reply is None else {"model": data.get("model"), "choices": [choice]},
        fidelity="partial" if known_input else "not rebuildable",
        missing=tuple(missing) if known_input else (),
        why=None if known_input else "the span holds no input: sensitive data was kept out of the trace",
        started=started,
        latency_ms=elapsed_ms(started, seconds(span.get("ended_at"))),
        error=_failed(members(span.get("error")) or None),
    )


def _unknown(known: dict[str, JsonObject], span: JsonObject) -> list[str]:
    """What the agent above a span had that the span does not show; nothing when the agent had no tools at all."""
    at, seen = str(span.get("parent_id")), set[str]()
    while at in known and at not in seen:
        seen.add(at)
        data = members(known[at].get("span_data"))
        if data.get("type") == "agent":
            none = data.get("tools") == [] and data.get("handoffs") == []
            return [] if none else ["tools"]
        at = str(known[at].get("parent_id"))
    return ["tools"]


def _response(
    place: str, data: JsonObject, started: float | None, took: float | None, error: JsonObject | None
) -> ImportedCall:
    response = members(data.get("response"))
    given = data.get("input")
    whole = bool(response) and isinstance(given, (str, list))
    body: JsonObject = {}
    if whole:
        body = {"model": response.get("model"), "input": given}
        body |= {key: response[key] for key in _ECHOED if response.get(key) is not None}
    missing = ("params", *lost_in(given)) if whole else ()
    echo: Json = response or None
    return ImportedCall(
        place=place,
        api="responses",
        provider="openai",
        endpoint=None,
        body=body,
        reply=echo if listed(response.get("output")) else None,
        fidelity="partial" if whole else "not rebuildable",
        missing=missing,
        why="settings are those that the response echoes" if whole else _NO_CONTENT,
        started=started,
        latency_ms=took,
        error=_failed(error),
    )
