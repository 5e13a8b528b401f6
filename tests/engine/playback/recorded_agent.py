"""A small agent, recorded once against a loopback server, and the pieces to play it back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai
from loopback import Answer, Loopback, Received

import runtape
from runtape.wire.dialects import dialect_for
from runtape.wire.sse import encode

TOOLS: Any = [{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}]


def answer(received: Received) -> Answer:
    """Asks for the tool first, then says what it found."""
    last = received.body["messages"][-1]
    message: dict[str, Any] = {"role": "assistant", "content": f"Found {last['content']}."}
    if last["role"] == "user":
        call = {"name": "look_up", "arguments": json.dumps({"order": last["content"]})}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": call}],
        }
    body = {
        "id": f"chatcmpl-{received.index}",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
    }
    if not received.body.get("stream"):
        return Answer(body)
    chunk = {**body, "object": "chat.completion.chunk"}
    delta = {
        **message,
        **({"tool_calls": [{"index": 0, **message["tool_calls"][0]}]} if "tool_calls" in message else {}),
    }
    pieces = [{**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}]
    pieces.append({**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    return Answer(chunks=[*(f"data: {json.dumps(piece)}\n\n".encode() for piece in pieces), b"data: [DONE]\n\n"])


def run(client: openai.OpenAI, look_up: Callable[..., Any], question: str, *, stream: bool = False) -> str:
    """The agent: asks, runs the tool, asks again."""
    messages: list[Any] = [{"role": "user", "content": question}]
    first = _ask(client, messages, stream=stream)
    call = first.tool_calls[0]
    found = look_up(**json.loads(call.function.arguments))
    messages.append({"role": "assistant", "tool_calls": [json.loads(call.model_dump_json(exclude_none=True))]})
    messages.append({"role": "tool", "tool_call_id": call.id, "content": str(found)})
    return _ask(client, messages, stream=stream).content


def _ask(client: openai.OpenAI, messages: list[Any], *, stream: bool) -> Any:
    if not stream:
        return client.chat.completions.create(model="m", messages=messages, tools=TOOLS).choices[0].message
    with client.chat.completions.stream(model="m", messages=messages, tools=TOOLS) as events:
        return events.get_final_completion().choices[0].message


def record(folder: Path, look_up: Callable[[str], Any], question: str = "order 7", *, stream: bool = False) -> Path:
    """The trace of one run against a real server."""
    with (
        Loopback(answer) as server,
        openai.OpenAI(base_url=server.url, api_key="k", max_retries=0) as client,
        runtape.record(folder / "run.jsonl") as recorder,
    ):
        run(recorder.wrap(client), recorder.tool(look_up), question, stream=stream)
    return recorder.path


RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "m",
    "status": "completed",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "output": [
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "hello", "annotations": []}],
        }
    ],
}
MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "content": [{"type": "text", "text": "hello"}],
    "usage": {"input_tokens": 3, "output_tokens": 1},
}


def greeting(received: Received) -> Answer:
    """`hello` in the API of the path, streamed where that is asked for."""
    api, body = ("messages", MESSAGE) if received.path.endswith("/messages") else ("responses", RESPONSE)
    if not received.body.get("stream"):
        return Answer(body)
    return Answer(chunks=[encode(event) for event in dialect_for(api).streamed(body, complete=True)])
