"""A provider that asks for a tool first and answers then, in the APIs that the frameworks speak, streamed or not."""

from __future__ import annotations

import json
from typing import Any

from loopback import Answer, Received

from runtape.wire.dialects import dialect_for
from runtape.wire.sse import encode

ARGUMENTS = {"order": "7"}


def provider(received: Received) -> Answer:
    """Calls `refund` for order 7 until a tool result is in the request, then says that it is done."""
    api, body = _answer(received)
    if not received.body.get("stream"):
        return Answer(body)
    return Answer(chunks=[encode(event) for event in dialect_for(api).streamed(body, complete=True)])


def _answer(received: Received) -> tuple[str, dict[str, Any]]:
    text = json.dumps(received.body.get("messages", received.body.get("input")))
    usage = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
    if received.path.endswith("/messages"):
        done = "tool_result" in text
        block: dict[str, Any] = {"type": "text", "text": "done"}
        if not done:
            block = {"type": "tool_use", "id": "c1", "name": "refund", "input": ARGUMENTS}
        head = {
            "id": f"msg_{received.index}",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "stop_sequence": None,
        }
        reason = "end_turn" if done else "tool_use"
        return "messages", {**head, "content": [block], "stop_reason": reason, "usage": usage}
    if received.path.endswith("/responses"):
        item: dict[str, Any] = {"type": "function_call", "id": "f1", "call_id": "c1", "status": "completed"}
        item |= {"name": "refund", "arguments": json.dumps(ARGUMENTS)}
        if "function_call_output" in text:
            content: Any = [{"type": "output_text", "text": "done", "annotations": [], "logprobs": []}]
            item = {"type": "message", "id": "i1", "role": "assistant", "status": "completed", "content": content}
        head = {
            "id": f"resp_{received.index}",
            "object": "response",
            "created_at": 1,
            "model": "m",
            "status": "completed",
        }
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        rest = {"output": [item], "tools": [], "tool_choice": "auto", "parallel_tool_calls": True}
        return "responses", {**head, **rest, "usage": {**usage, **details}}
    done = '"tool"' in text
    message: dict[str, Any] = {"role": "assistant", "content": "done" if done else None}
    if not done:
        function = {"name": "refund", "arguments": json.dumps(ARGUMENTS)}
        message["tool_calls"] = [{"id": "c1", "type": "function", "function": function}]
    choice = {"index": 0, "finish_reason": "stop" if done else "tool_calls", "message": message}
    head = {"id": f"chatcmpl-{received.index}", "object": "chat.completion", "created": 1, "model": "m"}
    spent = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    return "chat.completions", {**head, "choices": [choice], "usage": spent}
