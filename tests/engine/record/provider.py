"""A model provider for recording tests: the same call always gets the same answer, in the API of its path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from loopback import Answer, Received, sse
from rebuilt_requests import expand

from runtape.trace.events import Event
from runtape.trace.reader import read
from runtape.wire.dialects import dialect_for

TEXT = '{"city": "Bern"}'
"""What every answer says; a structured-output helper can parse it."""

CHAT: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m-2026",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": TEXT}}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4},
}
RESPONSES: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "m-2026",
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
            "content": [{"type": "output_text", "text": TEXT, "annotations": []}],
        }
    ],
    "usage": {
        "input_tokens": 3,
        "output_tokens": 1,
        "total_tokens": 4,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    },
}
MESSAGES: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m-2026",
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "content": [{"type": "text", "text": TEXT}],
    "usage": {"input_tokens": 3, "output_tokens": 1},
}


def chat_chunks(*texts: str) -> list[dict[str, Any]]:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m-2026"}
    said = [{**head, "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]} for text in texts]
    return [*said, {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]


def named_events(*events: dict[str, Any]) -> list[bytes]:
    """Stream chunks of events that are named by their type, as Responses and Anthropic send them."""
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]


def responses_events(*texts: str) -> list[bytes]:
    begun = {**RESPONSES, "status": "in_progress", "output": [], "usage": None}
    message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []}
    part = {"type": "output_text", "text": "", "annotations": []}
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": message},
        {"type": "response.content_part.added", **place, "part": part},
        *({"type": "response.output_text.delta", **place, "delta": text, "logprobs": []} for text in texts),
        {"type": "response.output_text.done", **place, "text": TEXT, "logprobs": []},
        {"type": "response.content_part.done", **place, "part": {**part, "text": TEXT}},
        {"type": "response.output_item.done", "output_index": 0, "item": RESPONSES["output"][0]},
        {"type": "response.completed", "response": RESPONSES},
    ]
    return named_events(*({**event, "sequence_number": number} for number, event in enumerate(events)))


def messages_events(*texts: str) -> list[bytes]:
    return named_events(
        {"type": "message_start", "message": {**MESSAGES, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}} for text in texts),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    )


def answer(received: Received) -> Answer:
    path = received.path.partition("?")[0]
    pieces = [TEXT[:6], TEXT[6:]]
    headers = {"x-request-id": "req-7"}
    if path.endswith("/chat/completions"):
        chunks, body = sse(*chat_chunks(*pieces)), CHAT
    elif path.endswith("/responses"):
        chunks, body = responses_events(*pieces), RESPONSES
    elif path.endswith("/messages"):
        chunks, body = messages_events(*pieces), MESSAGES
    else:
        return Answer({"object": "list", "data": [], "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}})
    return Answer(chunks=chunks, headers=headers) if received.body.get("stream") else Answer(body, headers=headers)


def events(path: Path, *kinds: str) -> list[Event]:
    """The events of a trace, of these types if any are given; a trace with a problem is no result."""
    reading = read(path)
    assert reading.problems == []
    assert not reading.truncated
    return [event for event in reading.events if not kinds or event.type in kinds]


def bodies(path: Path) -> list[Any]:
    """The request bodies that a trace holds, put together again."""
    found = events(path)
    requests = [event for event in found if event.type == "llm_request"]
    return [dialect_for(str(event.payload["api"])).join(expand(found, event.id)) for event in requests]


def the_reply(path: Path) -> Event:
    """The only `llm_response` of a trace."""
    (reply,) = events(path, "llm_response")
    return reply
