"""Replies drawn by hypothesis, and the events in which the providers would stream them in 2026."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from wire_bodies import arguments, names, record, words

Draw = Callable[[Any], Any]

tokens = st.integers(0, 5000)


def pieces(draw: Draw, text: str) -> list[str]:
    """`text` cut at drawn places; one empty piece for an empty text, as the providers send."""
    if not text:
        return [""]
    cuts = sorted(draw(st.sets(st.integers(1, len(text)), max_size=3)) | {len(text)})
    return [text[start:end] for start, end in zip([0, *cuts], cuts, strict=False)]


@st.composite
def chat_reply(draw: Draw) -> dict[str, Any]:
    """A chat completion, of one to three choices."""
    choices = []
    for index in range(draw(st.integers(1, 3))):
        said = draw(st.sampled_from(["text", "calls", "text and calls", "refusal", "legacy call"]))
        message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None, "annotations": []}
        if "text" in said:
            message["content"] = draw(words.filter(bool))
        if said == "refusal":
            message["refusal"] = draw(words.filter(bool))
        if "calls" in said:
            message["tool_calls"] = [
                {
                    "id": f"call_{index}{at}",
                    "type": "function",
                    "function": {"name": draw(names), "arguments": draw(arguments)},
                }
                for at in range(draw(st.integers(1, 3)))
            ]
        if said == "legacy call":
            message["function_call"] = {"name": draw(names), "arguments": draw(arguments)}
        reason = {"text": "stop", "refusal": "stop", "legacy call": "function_call"}.get(said, "tool_calls")
        reason = draw(st.sampled_from([reason, "length", "content_filter"]))
        choices.append({"index": index, "message": message, "logprobs": None, "finish_reason": reason})
    body = {
        "id": "chatcmpl-CZ1",
        "object": "chat.completion",
        "created": 1795970030,
        "model": "gpt-5.2-2026-05-01",
        "choices": choices,
    }
    body.update(service_tier="default", system_fingerprint="fp_34a54ae93c")
    if draw(st.booleans()):
        details = {"cached_tokens": draw(tokens), "audio_tokens": 0}
        body["usage"] = {
            "prompt_tokens": draw(tokens),
            "completion_tokens": draw(tokens),
            "total_tokens": 9,
            "prompt_tokens_details": details,
        }
    return body


def chat_stream(draw: Draw, body: dict[str, Any]) -> tuple[list[Any], int]:
    """Chunks of `body`, choices in turns; and how many of them make it complete."""
    head = {key: body[key] for key in ("id", "created", "model", "service_tier", "system_fingerprint")}
    usage = {"usage": None} if "usage" in body else {}

    def chunk(index: int, delta: Any, reason: str | None = None) -> dict[str, Any]:
        choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": reason}
        return {**head, "object": "chat.completion.chunk", "choices": [choice], **usage, "obfuscation": "TWU0aFab"}

    rows = []
    for choice in body["choices"]:
        index, message = choice["index"], choice["message"]
        # A call's first delta has no content; an answer in text begins with an empty one.
        begin: dict[str, Any] = {
            "role": "assistant",
            "content": None if message["content"] is None else "",
            "refusal": None,
        }
        row = [chunk(index, begin)]
        for key in ("content", "refusal"):
            row += [chunk(index, {key: piece}) for piece in pieces(draw, message[key] or "") if message[key]]
        for at, call in enumerate(message.get("tool_calls", [])):
            first = {**call, "index": at, "function": {"name": call["function"]["name"], "arguments": ""}}
            row.append(chunk(index, {"tool_calls": [first]}))
            for piece in pieces(draw, call["function"]["arguments"]):
                row.append(chunk(index, {"tool_calls": [{"index": at, "function": {"arguments": piece}}]}))
        if legacy := message.get("function_call"):
            row.append(chunk(index, {"function_call": {"name": legacy["name"], "arguments": ""}}))
            row += [
                chunk(index, {"function_call": {"arguments": piece}}) for piece in pieces(draw, legacy["arguments"])
            ]
        rows.append([*row, chunk(index, {}, choice["finish_reason"])])
    # The server begins every choice before it goes on with any.
    events = [row.pop(0) for row in rows]
    while rows := [row for row in rows if row]:
        events.append(draw(st.sampled_from(rows)).pop(0))
    complete = len(events)
    if "usage" in body:
        events.append({**head, "object": "chat.completion.chunk", "choices": [], "usage": body["usage"]})
    return [*events, "[DONE]"], complete


responses_part = st.one_of(
    record({"type": "output_text", "text": words, "annotations": st.just([]), "logprobs": st.just([])}),
    record({"type": "refusal", "refusal": words}),
)
responses_item = st.one_of(
    record(
        {
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": st.lists(responses_part, max_size=2),
        },
        {"phase": st.just("final_answer")},
    ),
    record(
        {
            "type": "reasoning",
            "summary": st.lists(record({"type": "summary_text", "text": words}), max_size=2),
            "encrypted_content": words,
        }
    ),
    record({"type": "function_call", "status": "completed", "name": names, "arguments": arguments}),
    record({"type": "custom_tool_call", "status": "completed", "name": names, "input": words}),
    record(
        {"type": "mcp_call", "name": names, "arguments": arguments, "server_label": "m", "output": words},
        {"error": st.none()},
    ),
    record({"type": "web_search_call", "status": "completed", "action": st.just({"type": "search", "query": "q"})}),
)
PREFIX = {
    "message": "msg",
    "reasoning": "rs",
    "function_call": "fc",
    "custom_tool_call": "ctc",
    "mcp_call": "mcp",
    "web_search_call": "ws",
}


@st.composite
def responses_reply(draw: Draw) -> dict[str, Any]:
    """A response, of none to four items."""
    output = draw(st.lists(responses_item, max_size=4))
    for index, item in enumerate(output):
        item["id"] = f"{PREFIX[item['type']]}_{index}"
        if item["type"] in ("function_call", "custom_tool_call"):
            item["call_id"] = f"call_{index}"
    reason = draw(st.none() | st.sampled_from(["max_output_tokens", "content_filter"]))
    body = {
        "id": "resp_68a1",
        "object": "response",
        "created_at": 1795970030,
        "model": "gpt-5.2-2026-05-01",
        "error": None,
    }
    body.update(
        status="incomplete" if reason else "completed", incomplete_details={"reason": reason} if reason else None
    )
    body.update(output=output, parallel_tool_calls=True, store=False, usage=None)
    if draw(st.booleans()):
        body["usage"] = {
            "input_tokens": draw(tokens),
            "input_tokens_details": {"cached_tokens": draw(tokens)},
            "output_tokens": draw(tokens),
            "total_tokens": 9,
        }
    return body


def responses_stream(draw: Draw, body: dict[str, Any]) -> tuple[list[Any], int]:
    """Events of `body`, and how many of them make it complete."""
    begun = {**body, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]

    def say(stem: str, text: str, at: dict[str, Any], final: str) -> None:
        events.extend(
            {"type": f"response.{stem}.delta", **at, "delta": piece, "obfuscation": "x1"}
            for piece in pieces(draw, text)
        )
        events.append({"type": f"response.{stem}.done", **at, final: text})

    for index, item in enumerate(body["output"]):
        at = {"output_index": index, "item_id": item["id"]}
        bare = {key: value for key, value in item.items() if key not in ("output", "x_new")}
        bare.update(
            {
                key: [] if key in ("content", "summary") else ""
                for key in ("content", "summary", "arguments", "input")
                if key in item
            }
        )
        events.append({"type": "response.output_item.added", "output_index": index, "item": bare})
        for key, kind in (("content", "content_part"), ("summary", "reasoning_summary_part")):
            for number, part in enumerate(item.get(key, [])):
                there = {**at, f"{key}_index": number}
                text_key = "refusal" if part["type"] == "refusal" else "text"
                stem = "reasoning_summary_text" if key == "summary" else part["type"]
                events.append({"type": f"response.{kind}.added", **there, "part": {**part, text_key: ""}})
                say(stem, part[text_key], there, text_key)
                events.append({"type": f"response.{kind}.done", **there, "part": part})
        if item["type"] == "custom_tool_call":
            say("custom_tool_call_input", item["input"], at, "input")
        elif "arguments" in item:
            say(f"{item['type']}_arguments", item["arguments"], at, "arguments")
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": f"response.{body['status']}", "response": body})
    return [{**event, "sequence_number": number} for number, event in enumerate(events)], len(events)


anthropic_block = st.one_of(
    record({"type": "thinking", "thinking": words, "signature": words.filter(bool)}),
    record({"type": "redacted_thinking", "data": words}),
    st.fixed_dictionaries({"type": st.just("text"), "text": words, "citations": st.none()}),
    st.fixed_dictionaries(
        {
            "type": st.just("text"),
            "text": words,
            "citations": st.just(
                [{"type": "char_location", "cited_text": "a"}, {"type": "char_location", "cited_text": "b"}]
            ),
        }
    ),
    record(
        {
            "type": "tool_use",
            "id": "toolu_1",
            "name": names,
            "input": st.dictionaries(words, st.integers() | words, max_size=2),
        },
        {"caller": st.just({"type": "direct"})},
    ),
    record({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": st.just({"query": "q"})}),
    record(
        {
            "type": "web_search_tool_result",
            "tool_use_id": "srvtoolu_1",
            "content": st.just([{"type": "web_search_result", "encrypted_content": "EqgB"}]),
        }
    ),
)
SPELLED = {"text": "text_delta", "thinking": "thinking_delta", "signature": "signature_delta"}


@st.composite
def anthropic_reply(draw: Draw) -> dict[str, Any]:
    """A message, of none to five blocks."""
    reason = draw(st.sampled_from(["end_turn", "stop_sequence", "tool_use", "max_tokens", "refusal", "pause_turn"]))
    usage = {
        "input_tokens": draw(tokens),
        "cache_creation_input_tokens": draw(tokens),
        "cache_read_input_tokens": draw(tokens),
        "output_tokens": draw(tokens),
    }
    return {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5",
        "content": draw(st.lists(anthropic_block, max_size=5)),
        "stop_reason": reason,
        "stop_sequence": "END" if reason == "stop_sequence" else None,
        "usage": {**usage, "service_tier": "standard"},
    }


def anthropic_stream(draw: Draw, body: dict[str, Any]) -> tuple[list[Any], int]:
    """Events of `body`, and how many of them make it complete."""
    start = {
        **body,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**body["usage"], "output_tokens": 1},
    }
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(copy.deepcopy(body["content"])):
        deltas: list[dict[str, Any]] = []
        for key, type_ in SPELLED.items():
            if key in block:
                whole = key == "signature"
                deltas += [
                    {"type": type_, key: piece} for piece in ([block[key]] if whole else pieces(draw, block[key]))
                ]
                block[key] = ""
        if block.get("citations"):
            deltas += [{"type": "citations_delta", "citation": citation} for citation in block["citations"]]
            block["citations"] = None
        if block["type"] in ("tool_use", "server_tool_use"):
            spelled = json.dumps(block["input"]) if block["input"] else ""
            deltas += [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *pieces(draw, spelled)]]
            block["input"] = {}
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    events.insert(1, {"type": "ping"})
    delta = {"stop_reason": body["stop_reason"], "stop_sequence": body["stop_sequence"]}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": body["usage"]["output_tokens"]}})
    events.append({"type": "message_stop"})
    return events, len(events)


@st.composite
def completions_reply(draw: Draw) -> dict[str, Any]:
    """A completion of one to three choices."""
    choices = [
        {
            "text": draw(words),
            "index": index,
            "logprobs": None,
            "finish_reason": draw(st.sampled_from(["stop", "length"])),
        }
        for index in range(draw(st.integers(1, 3)))
    ]
    head = {"id": "cmpl-1", "object": "text_completion", "created": 1795970030, "model": "gpt-3.5-turbo-instruct"}
    usage = {"usage": {"prompt_tokens": draw(tokens), "completion_tokens": draw(tokens), "total_tokens": 9}}
    return {**head, "choices": choices, **(usage if draw(st.booleans()) else {})}


def completions_stream(draw: Draw, body: dict[str, Any]) -> tuple[list[Any], int]:
    """Chunks of `body`, choices one after the other; and how many of them make it complete."""
    head = {key: body[key] for key in ("id", "object", "created", "model")}
    rows = []
    for choice in body["choices"]:
        row = [{**choice, "text": piece, "finish_reason": None} for piece in pieces(draw, choice["text"])]
        rows.append([*row, {**choice, "text": ""}])
    events: list[Any] = [{**head, "choices": [row.pop(0)]} for row in rows]
    events += [{**head, "choices": [piece]} for row in rows for piece in row]
    complete = len(events)
    if "usage" in body:
        events.append({**head, "choices": [], "usage": body["usage"]})
    return [*events, "[DONE]"], complete


REPLY = {
    "chat.completions": chat_reply(),
    "responses": responses_reply(),
    "messages": anthropic_reply(),
    "completions": completions_reply(),
}
STREAM = {
    "chat.completions": chat_stream,
    "responses": responses_stream,
    "messages": anthropic_stream,
    "completions": completions_stream,
}
