"""Agents that make two calls each in every API, the server that answers them, and what was imported of their spans."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, Received

from runtape import Trace
from runtape.cli.main import run
from runtape.wire.dialects import dialect_for
from runtape.wire.sse import encode

IMAGE = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TOOL = {
    "type": "function",
    "function": {
        "name": "refund",
        "description": "Refund an order.",
        "parameters": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
    },
}
FLAT = {
    "type": "function",
    "name": "refund",
    "description": "d",
    "parameters": TOOL["function"]["parameters"],
    "strict": True,
}


def provider(received: Received) -> Answer:
    """Two parallel tool calls first, then an answer, in each API, streamed or not; ids are new in every reply."""
    api, body = _answer(received)
    if not received.body.get("stream"):
        return Answer(body)
    return Answer(chunks=[encode(event) for event in dialect_for(api).streamed(body, complete=True)])


def _answer(received: Received) -> tuple[str, dict[str, Any]]:
    text, at = json.dumps(received.body), received.index
    if received.path.endswith("/messages"):
        done = "tool_result" in text
        blocks: list[Any] = [{"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"}]
        if done:
            blocks = [{"type": "text", "text": "done"}]
        else:
            blocks += [
                {"type": "tool_use", "id": f"t{at}{n}", "name": "refund", "input": {"order": str(n)}} for n in (1, 2)
            ]
        reason = "end_turn" if done else "tool_use"
        head = {"id": f"msg_{at}", "type": "message", "role": "assistant", "model": "claude-x", "stop_sequence": None}
        return "messages", {
            **head,
            "content": blocks,
            "stop_reason": reason,
            "usage": {"input_tokens": 3, "output_tokens": 2},
        }
    if received.path.endswith("/responses"):
        items: list[Any] = [{"type": "reasoning", "id": f"rs_{at}", "summary": [], "encrypted_content": "ZW5j"}]
        if "function_call_output" in text:
            content = [{"type": "output_text", "text": "done", "annotations": [], "logprobs": []}]
            items = [
                {"type": "message", "id": f"m{at}", "role": "assistant", "status": "completed", "content": content}
            ]
        else:
            for n in (1, 2):
                call = {"type": "function_call", "id": f"fc_{at}{n}", "call_id": f"call_{at}{n}", "status": "completed"}
                items.append({**call, "name": "refund", "arguments": json.dumps({"order": str(n)})})
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        usage = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5, **details}
        head = {"id": f"resp_{at}", "object": "response", "created_at": 1, "model": "m", "status": "completed"}
        return "responses", {
            **head,
            "output": items,
            "tools": [],
            "tool_choice": "auto",
            "parallel_tool_calls": True,
            "usage": usage,
        }
    message: dict[str, Any] = {"role": "assistant", "content": "done"}
    done = '"role": "tool"' in text
    if not done:
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": f"c{at}{n}",
                    "type": "function",
                    "function": {"name": "refund", "arguments": json.dumps({"order": str(n)})},
                }
                for n in (1, 2)
            ],
        }
    choice = {"index": 0, "message": message, "finish_reason": "stop" if done else "tool_calls"}
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    return "chat.completions", {
        "id": f"chatcmpl-{at}",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }


def chat(url: str, *, stream: bool = False, image: bool = False) -> None:
    """Two calls: the second answers the two tool calls of the first."""
    client = pytest.importorskip("openai").OpenAI(base_url=url, api_key="k", max_retries=0)
    question: Any = "refund orders 1 and 2"
    if image:
        question = [{"type": "text", "text": question}, {"type": "image_url", "image_url": {"url": IMAGE}}]
    messages: list[Any] = [{"role": "system", "content": "Be quick."}, {"role": "user", "content": question}]
    for _ in range(2):
        sent: dict[str, Any] = {"model": "m", "messages": messages, "tools": [TOOL], "temperature": 0.5, "seed": 3}
        if stream:
            for _ in client.chat.completions.create(**sent, stream=True):
                pass
            return
        reply = client.chat.completions.create(**sent).choices[0].message
        messages = [*messages, reply.model_dump(exclude_none=True)]
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": f"refunded {call.id}"}
            for call in reply.tool_calls or ()
        ]


def responses(url: str) -> None:
    """Two calls with reasoning items in between."""
    client = pytest.importorskip("openai").OpenAI(base_url=url, api_key="k", max_retries=0)
    items: list[Any] = [{"role": "user", "content": "refund orders 1 and 2"}]
    for _ in range(2):
        reply = client.responses.create(
            model="m",
            instructions="Be quick.",
            input=items,
            tools=[FLAT],
            store=False,
            include=["reasoning.encrypted_content"],
            reasoning={"effort": "low"},
        )
        items = [*items, *(item.model_dump(exclude_none=True) for item in reply.output)]
        items += [
            {"type": "function_call_output", "call_id": item.call_id, "output": "refunded"}
            for item in reply.output
            if item.type == "function_call"
        ]


def messages(url: str) -> None:
    """Two calls of Anthropic's API with thinking and a cache mark."""
    client = pytest.importorskip("anthropic").Anthropic(base_url=url.removesuffix("/v1"), api_key="k", max_retries=0)
    said: list[Any] = [{"role": "user", "content": "refund orders 1 and 2"}]
    tool = {"name": "refund", "description": "d", "input_schema": TOOL["function"]["parameters"]}
    system = [{"type": "text", "text": "Be quick.", "cache_control": {"type": "ephemeral"}}]
    for _ in range(2):
        reply = client.messages.create(
            model="claude-x",
            max_tokens=2000,
            system=system,
            tools=[tool],
            messages=said,
            thinking={"type": "enabled", "budget_tokens": 1024},
        )
        said = [
            *said,
            {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in reply.content]},
        ]
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": "refunded"}
            for block in reply.content
            if block.type == "tool_use"
        ]
        said = [*said, {"role": "user", "content": results}]


def imported(path: Path, folder: Path, *more: Path) -> list[Trace]:
    assert run(["import", str(path), *map(str, more), "-o", str(folder)]) == 0
    return sorted(map(Trace.load, folder.glob("*.jsonl")), key=lambda trace: trace.calls[0].request.ts)


def calls_of(traces: list[Trace]) -> list[tuple[Any, Any, Any]]:
    """Body, reply and fidelity of every call."""
    return [
        (trace.request(call.request).body, trace.reply(call.request), trace.fidelity(call.request))
        for trace in traces
        for call in trace.calls
    ]


def spelled_alike(said: Any) -> Any:
    """Messages with arguments parsed and without nulls: instrumentations parse arguments and write them anew."""
    if isinstance(said, dict):
        return {
            key: json.loads(value) if key == "arguments" else spelled_alike(value)
            for key, value in said.items()
            if value is not None
        }
    return [spelled_alike(item) for item in said] if isinstance(said, list) else said
