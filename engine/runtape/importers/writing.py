"""Imported runs as trace files: the same events, links and redaction as a recording has."""

from __future__ import annotations

import re
import secrets
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Final

from ..errors import PathRefused
from ..trace.encoder import Encoder
from ..trace.events import VERSION
from ..trace.packing import PACKED, Packer
from ..trace.redact import Redacted, redactor
from ..trace.writer import Writer
from ..wire.dialect import Dialect, UnreadableReply
from ..wire.dialects import dialect_for
from ..wire.telling import told_of
from ..wire.values import JsonObject, ToolCall
from .imported import ImportedCall, ImportedEvent, ImportedNote, ImportedRun, ImportedTool, Skipped


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the runs come from; written into the tags of every trace."""

    file: str
    format: str
    reason: str


@dataclass(slots=True)
class Written:
    """One trace that was written."""

    path: Path
    name: str
    twin: str | None = None
    """An earlier trace of the same name and start, most likely of the same recording."""
    calls: int = 0
    replies: int = 0
    tools: int = 0
    notes: int = 0
    fidelity: Counter[str] = field(default_factory=Counter[str])
    missing: Counter[str] = field(default_factory=Counter[str])


@dataclass(frozen=True, slots=True)
class _Asked:
    """A tool call of a reply that no tool run has answered yet."""

    response: int
    call: ToolCall


def write_run(
    run: ImportedRun,
    folder: Path,
    origin: Origin,
    change: Callable[[ImportedCall], ImportedCall],
    skip: Callable[[Skipped], None],
) -> Written:
    """Write a run into a new file of `folder`, every call after `change`; `skip` is told of what becomes no event.

    Raises:
        PathRefused: the file cannot be written whole.
    """
    writer = Writer.create(folder / f"{_slug(run.name)}-{_stamp(run.started)}-{secrets.token_hex(3)}.jsonl")
    try:
        _complain(writer)
        pen = _Pen(writer, Written(writer.path, run.name), change)
        pen.start(run, origin)
        for event in run.events:
            if isinstance(event, Skipped):
                skip(event)
            else:
                pen.write(event)
        pen.end()
        _complain(writer)
    finally:
        writer.close()
    return pen.written


def _complain(writer: Writer) -> None:
    if writer.error is not None:
        raise PathRefused(f"cannot write {str(writer.path)!r}: {writer.error}. Pass another folder with -o.")


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")[:60].strip("-.") or "imported"


def _stamp(started: float | None) -> str:
    try:
        return time.strftime("%Y%m%d-%H%M%S", time.localtime(started))
    except (OverflowError, OSError, ValueError):
        return time.strftime("%Y%m%d-%H%M%S", time.localtime())


class _Pen:
    """Writes the events of one run."""

    def __init__(self, writer: Writer, written: Written, change: Callable[[ImportedCall], ImportedCall]) -> None:
        self.written = written
        self._writer = writer
        self._change = change
        self._encoder = Encoder()
        self._texts = Packer()
        self._redact: Callable[[str, JsonObject, JsonObject], Redacted] = redactor()
        self._asked: list[_Asked] = []
        self._at = 0.0
        """Time of the last event that has one: events without take the one before."""

    def start(self, run: ImportedRun, origin: Origin) -> None:
        self._at = run.started or 0.0
        started = _iso(run.started)
        tags: JsonObject = {
            **run.tags,
            "imported_from": origin.file,
            "format": origin.format,
            "recognised_by": origin.reason,
        }
        payload: JsonObject = {
            "run_id": secrets.token_hex(6),
            "format": "runtape",
            "version": VERSION,
            "name": run.name,
            **({"started_at": started} if started else {}),
            "tags": tags,
        }
        self._append("run_start", payload, {})

    def end(self) -> None:
        self._append("run_end", {"status": "imported"}, {})

    def write(self, event: ImportedEvent) -> None:
        match event:
            case ImportedCall():
                self._call(self._change(event))
            case ImportedTool():
                self._tool(event)
            case ImportedNote():
                self.written.notes += 1
                self._append("log", {"message": event.message, **event.facts}, {"place": event.place}, at=event.started)

    def _call(self, call: ImportedCall) -> None:
        dialect = dialect_for(call.api)
        facts: JsonObject = {"provider": call.provider, "api": call.api}
        if call.endpoint is not None:
            facts["endpoint"] = call.endpoint
        meta: JsonObject = {"fidelity": call.fidelity, "place": call.place}
        if call.missing:
            meta["missing"] = list(call.missing)
        if call.why is not None:
            meta["why"] = call.why
        self.written.calls += 1
        self.written.fidelity[call.fidelity] += 1
        self.written.missing.update(call.missing)
        delta = self._encoder.encode(call.provider, dialect.split(call.body))
        clean = self._redact("llm_request", {**facts, **delta.fields}, meta)
        # After redaction: what a reference leads to is what was written.
        payload, is_packed = self._texts.pack(clean.payload)
        marks = {**clean.meta, PACKED: True} if is_packed else clean.meta
        request = self._put("llm_request", Redacted(payload, marks), None, call.started)
        if clean.failure is None and self._writer.acknowledged(request):
            self._encoder.remember(request, delta, clean.payload)
            self._texts.remember(request)
        if call.reply is not None or call.error is not None or call.status is not None:
            self._reply(call, dialect, request)

    def _reply(self, call: ImportedCall, dialect: Dialect, request: int) -> None:
        payload: JsonObject = {"text": None, "tool_calls": [], "stop_reason": None, "raw": call.reply}
        meta: JsonObject = {}
        if call.status is not None:
            meta["status"] = call.status
        if call.latency_ms is not None:
            meta["latency_ms"] = call.latency_ms
        if not call.complete:
            meta["stream"] = {"complete": False, "reason": "cut short"}
        calls: tuple[ToolCall, ...] = ()
        try:
            replies = dialect.replies(call.reply)
            told = told_of(replies[0])
        except (UnreadableReply, IndexError) as unreadable:
            if call.error is None:
                payload["unparsed"] = str(unreadable) or "the response holds no answer"
        else:
            payload.update(told.payload)
            meta = {**told.meta, **meta}
            calls = told.tool_calls
            self.written.replies += 1
        if call.error is not None:
            payload["error"] = call.error
        ended = None if call.started is None else call.started + (call.latency_ms or 0.0) / 1000
        response = self._append("llm_response", payload, meta, parent=request, at=ended)
        self._asked += [_Asked(response, asked) for asked in calls]
        del self._asked[:-_ASKED]

    def _tool(self, tool: ImportedTool) -> None:
        self.written.tools += 1
        payload: JsonObject = {"name": tool.name, "arguments": tool.arguments}
        meta: JsonObject = {"place": tool.place}
        asked = self._claim(tool)
        if asked is not None:
            meta["requested_by"] = asked.response
        call_id = tool.call_id or (asked.call.id if asked is not None else None)
        if call_id is not None:
            payload["call_id"] = call_id
        number = self._append("tool_call", payload, meta, at=tool.started)
        outcome: JsonObject = {"name": tool.name, "result": tool.result}
        if tool.error is not None:
            outcome["error"] = tool.error
        took: JsonObject = {} if tool.latency_ms is None else {"latency_ms": tool.latency_ms}
        ended = None if tool.started is None else tool.started + (tool.latency_ms or 0.0) / 1000
        self._append("tool_result", outcome, took, parent=number, at=ended)

    def _claim(self, tool: ImportedTool) -> _Asked | None:
        """The call that a tool run answers: by its id, then by its arguments, then the first of its name."""
        named = [asked for asked in self._asked if asked.call.name == tool.name]
        found = next((asked for asked in reversed(named) if tool.call_id and asked.call.id == tool.call_id), None)
        if found is None and tool.call_id is None:
            same = [asked for asked in named if asked.call.arguments == tool.arguments]
            found = next(iter(same or named), None)
        if found is not None:
            self._asked.remove(found)
        return found

    def _append(
        self, kind: str, payload: JsonObject, meta: JsonObject, *, parent: int | None = None, at: float | None = None
    ) -> int:
        return self._put(kind, self._redact(kind, payload, meta), parent, at)

    def _put(self, kind: str, clean: Redacted, parent: int | None, at: float | None) -> int:
        self._at = self._at if at is None else at
        return self._writer.append(kind, clean.payload, meta=clean.meta, parent=parent, ts=self._at)


_ASKED: Final = 4096
"""Calls looked back on."""


def _iso(started: float | None) -> str | None:
    try:
        return None if started is None else datetime.fromtimestamp(started, timezone.utc).isoformat()
    except (OverflowError, OSError, ValueError):
        return None
