"""What the providers' APIs demand of a request, as strictly as they check it."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

Body = dict[str, Any]


def chat(body: Body) -> None:
    """Chat completions: results follow their calls at once, nothing is empty, arguments are JSON."""
    waiting: list[str] = []
    assert body["messages"]
    for message in body["messages"]:
        role = message["role"]
        if role == "tool":
            assert message["tool_call_id"] in waiting, "a result answers a call of the message before"
            waiting.remove(message["tool_call_id"])
        else:
            assert not waiting, "every call has its result before the next message"
        calls = message.get("tool_calls") or []
        content = message.get("content")
        assert content or (role == "assistant" and calls), "no message is empty"
        for part in content if isinstance(content, list) else []:
            _chat_part(role, part)
        for call in calls:
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            waiting.append(call["id"])
    for tool in body.get("tools", []):
        _schema(tool["function"]["parameters"])
    assert [tool["function"]["name"] for tool in body.get("tools", [])] or "tools" not in body


def _chat_part(role: str, part: Body) -> None:
    kinds = {"text"} if role != "user" else {"text", "image_url", "input_audio", "file"}
    assert part["type"] in kinds
    assert part["type"] != "text" or part["text"].strip()


def responses(body: Body) -> None:
    """Responses: every call has its output, reasoning is followed by what it led to, parts are of their side."""
    asked: set[str] = set()
    for at, item in enumerate(body["input"]):
        match item.get("type", "message"):
            case "message":
                kinds = {"output_text", "refusal"} if item["role"] == "assistant" else {"input_text", "input_image"}
                content = item["content"]
                assert content
                for part in content if isinstance(content, list) else []:
                    assert part["type"] in kinds
                    assert part.get("text", part.get("image_url", part.get("refusal")))
            case "function_call":
                assert isinstance(json.loads(item["arguments"]), dict)
                asked.add(item["call_id"])
            case "function_call_output":
                assert item["output"]
                asked.remove(item["call_id"])
            case "reasoning":
                assert item["encrypted_content"] == "AAA=", "what is sealed comes back as it was"
                assert body["input"][at + 1]["type"] in {"function_call", "message"}
            case other:
                raise AssertionError(other)
    assert not asked
    for tool in body.get("tools", []):
        _schema(tool["parameters"])


def messages(body: Body) -> None:
    """Messages: roles take turns, results come first and at once, no text is blank, thinking is as it was signed."""
    said = body["messages"]
    assert said[0]["role"] == said[-1]["role"] == "user"
    assert all(above["role"] != below["role"] for above, below in pairwise(said))
    waiting: list[str] = []
    for message in said:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        assert blocks, "no message is empty"
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert sorted(results) == sorted(waiting), "each call has its result in the next message"
        assert all(block["type"] == "tool_result" for block in blocks[: len(results)]), "results come first"
        waiting = []
        for block in blocks:
            _block(block, waiting)
        _thinking(blocks)
    system = body.get("system", "x")
    assert all(part["text"].strip() for part in ([{"text": system}] if isinstance(system, str) else system))
    for tool in body.get("tools", []):
        _schema(tool["input_schema"])


def _block(block: Body, waiting: list[str]) -> None:
    match block["type"]:
        case "text":
            assert block["text"].strip(), "text content blocks must contain non-whitespace text"
        case "tool_use":
            assert isinstance(block["input"], dict)
            waiting.append(block["id"])
        case "tool_result":
            content = block["content"]
            assert isinstance(content, str) or content
            for part in content if isinstance(content, list) else []:
                assert part["type"] in {"text", "image", "document"}
                assert part["type"] != "text" or part["text"].strip()
        case "thinking":
            assert block["signature"] == f"signed:{block['thinking']}"
        case other:
            assert other in {"image", "document"}, other


def _thinking(blocks: list[Body]) -> None:
    kinds = [block["type"] for block in blocks]
    assert kinds != ["thinking"], "thinking alone is no message"
    assert "thinking" not in kinds[1:]


def _schema(schema: Body) -> None:
    assert schema["type"] == "object"
    assert set(schema.get("required", [])) <= set(schema.get("properties", {}))
    for inner in schema.get("properties", {}).values():
        assert inner["type"]
        assert "description" not in inner or inner["description"].strip()


RULES: dict[str, Callable[[Body], None]] = {"chat.completions": chat, "responses": responses, "messages": messages}
