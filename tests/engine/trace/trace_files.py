"""Traces for tests, in the public format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from runtape.trace.trace import Trace

START: dict[str, Any] = {"format": "runtape", "version": 1, "run_id": "r1", "name": "inbox"}


def line(number: int, kind: str, payload: Any = None, *, parent: int | None = None, meta: Any = None) -> dict[str, Any]:
    """One event as it stands in a file."""
    return {
        "id": number,
        "ts": 1_700_000_000.0 + number,
        "type": kind,
        "parent": parent,
        "payload": payload or {},
        "meta": meta or {},
    }


def chat(number: int, provider: str = "openai", **fields: Any) -> dict[str, Any]:
    """A request of a chat model; `fields` are messages or base and messages_append, system, tools, params."""
    known = {"provider": provider, "model": "gpt-x", "api": "chat.completions", "params": {}}
    return line(number, "llm_request", {**known, **fields})


def calls_tool(number: int, parent: int, name: str, call_id: str = "c1", arguments: str = "{}") -> dict[str, Any]:
    """A reply that asks for one tool call, with the body as the provider sent it."""
    function = {"name": name, "arguments": arguments}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }
    raw = {
        "id": "x",
        "model": "gpt-x-2026",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
    }
    listed = [{"id": call_id, "name": name, "arguments": json.loads(arguments)}]
    return line(
        number,
        "llm_response",
        {"text": None, "tool_calls": listed, "stop_reason": "tool_calls", "raw": raw},
        parent=parent,
    )


def write(path: Path, *lines: Any, end: str = "\n") -> Path:
    """A file with one line for each: an event as a dict, or any text or bytes as it is."""
    spelled = [
        item if isinstance(item, bytes) else (item if isinstance(item, str) else json.dumps(item)).encode("utf-8")
        for item in lines
    ]
    path.write_bytes(b"\n".join(spelled) + end.encode())
    return path


def load(path: Path, *lines: Any) -> Trace:
    """The trace of these lines."""
    return Trace.load(write(path, *lines))


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def asks(name: str, call_id: str = "c1") -> dict[str, Any]:
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def answers(text: str, call_id: str = "c1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}
