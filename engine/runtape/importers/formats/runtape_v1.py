"""Traces of this project's own format; version 1 also as the public package `runtape` writes it.

They are read as they are wherever a trace is asked for; importing one makes a copy in the folder of traces, its
requests put together again from what earlier ones held.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ...errors import BrokenRequest, RuntapeError
from ...trace.calls import Call
from ...trace.events import Event
from ...trace.fidelity import fidelity_in
from ...trace.trace import Trace
from ...wire.bodies import objects
from ...wire.reading import members, text_or_none
from ...wire.values import Json, JsonObject
from ..conversation import logged_response
from ..each_file import stem
from ..imported import ImportedCall, ImportedEvent, ImportedNote, ImportedRun, ImportedTool, Skipped
from ..lost import lost_in
from ..registry import Format
from ..source import DAMAGED, Sample, Source

_BY_NATURE: Final = ("gap",)
_BYTES: Final = "some of it was bytes, of which the trace keeps the length only"


def recognise(sample: Sample) -> str | None:
    """Why a file looks like this format; None when it does not."""
    for value in sample.objects[:20]:
        if value.get("type") == "run_start" and members(value.get("payload")).get("format") == "runtape":
            return "a `run_start` of format runtape"
        if value.get("type") in ("llm_request", "llm_response") and {"id", "payload"} <= value.keys():
            return "events of type llm_request with `id` and `payload`"
    return None


def read(sources: Sequence[Source]) -> Iterator[ImportedRun | Skipped]:
    """One run per file."""
    for source in sources:
        with tempfile.TemporaryDirectory(prefix="runtape-import-") as folder:
            path = source.path
            if source.packing != "plain":
                path = Path(folder) / "trace.jsonl"
                if (damage := source.unpack_into(path)) is not None:
                    yield Skipped(source.name, f"{DAMAGED}: {damage}")
            try:
                trace = Trace.load(path)
            except RuntapeError as error:
                yield Skipped(source.name, str(error))
                continue
            for problem in trace.problems:
                yield Skipped(f"line {problem.line}", problem.reason)
            yield from _run(trace, stem(source.name))


def _run(trace: Trace, name: str) -> Iterator[ImportedRun | Skipped]:
    events: list[ImportedEvent] = []
    head: Event | None = None
    results = {event.parent: event for event in trace.events if event.type == "tool_result"}
    answered = {event.parent for event in trace.events if event.type == "llm_response"}
    for event in trace.events:
        place = f"event {event.id}"
        if event.type == "llm_request":
            call = trace.call(event)
            events.append(_call(trace, event, call if event.id in answered else None))
        elif event.type == "tool_call":
            events.append(_tool(event, results.get(event.id)))
        elif event.type in ("state", "log", "error"):
            message = text_or_none(event.payload.get("message")) or event.type
            facts: JsonObject = {key: item for key, item in event.payload.items() if key != "message"}
            events.append(ImportedNote(place, message, facts, event.ts))
        elif event.type == "run_start":
            head = event
        elif event.type not in ("llm_response", "tool_result", "run_end"):  # an imported run has an end of its own
            yield Skipped(place, f"an event of type {event.type}", notable=event.type not in _BY_NATURE)
    if not any(isinstance(event, ImportedCall) for event in events):
        yield Skipped(name, "a run without a model call")
        return
    payload = {} if head is None else head.payload
    named = text_or_none(payload.get("name")) or name
    yield ImportedRun(named, events, trace.events[0].ts, dict(members(payload.get("tags"))))


def _call(trace: Trace, event: Event, call: Call | None) -> ImportedCall:
    payload = event.payload
    api = text_or_none(payload.get("api")) or "chat.completions"
    response = None if call is None else call.response
    told = fidelity_in(event.meta)
    body: JsonObject = {}
    label, why, missing = told.label, told.why, told.missing
    endpoint = text_or_none(payload.get("endpoint"))
    try:
        body = trace.request(event).body
    except BrokenRequest as broken:
        label, why, missing = "not rebuildable", str(broken), ()
    else:
        missing = tuple(dict.fromkeys((*missing, *lost_in(body))))
        if _has_bytes(body):
            label, why = "not rebuildable", _BYTES
        elif label == "exact":
            label = "partial" if missing else "rebuilt"
    latency = None if response is None else response.meta.get("latency_ms")
    error = None if response is None else response.payload.get("error")
    return ImportedCall(
        place=f"event {event.id}",
        api=api,
        provider=text_or_none(payload.get("provider")) or "openai",
        endpoint=endpoint,
        body=body,
        reply=None if response is None else _reply(api, response),
        fidelity=label,
        missing=missing,
        why=why,
        started=event.ts,
        latency_ms=latency if isinstance(latency, (int, float)) else None,
        error=error if isinstance(error, dict) else None if error is None else {"message": error},
    )


def _reply(api: str, response: Event) -> Json:
    payload = response.payload
    if payload.get("raw") is not None:
        return payload["raw"]
    text, calls = text_or_none(payload.get("text")), [call for _, call in objects(payload.get("tool_calls"))]
    if text is None and not calls:
        return None
    return logged_response(api, text, calls, text_or_none(payload.get("stop_reason")))


def _tool(call: Event, result: Event | None) -> ImportedTool:
    given = {} if result is None else result.payload
    latency = None if result is None else result.meta.get("latency_ms")
    error = given.get("error")
    return ImportedTool(
        place=f"event {call.id}",
        name=text_or_none(call.payload.get("name")) or "unknown",
        arguments=call.payload.get("arguments"),
        result=given.get("result"),
        error=error if isinstance(error, dict) else None if error is None else {"message": error},
        call_id=text_or_none(call.payload.get("call_id")),
        started=call.ts,
        latency_ms=latency if isinstance(latency, (int, float)) else None,
    )


def _has_bytes(value: Json) -> bool:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting += item
        elif isinstance(item, dict):
            if isinstance(item.get("__bytes__"), int) and len(item) == 1:
                return True
            waiting += item.values()
    return False


FORMAT: Final = Format("runtape", "runtape traces", "a `run_start` of format runtape", recognise, read)
