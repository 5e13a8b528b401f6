"""The real SDKs behave the same whether they are recorded or not, and what they sent can be rebuilt."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic
from loopback import Loopback
from openai import AsyncOpenAI, OpenAI
from provider import TEXT, answer, bodies, events
from pydantic import BaseModel

from runtape.record import record

QUESTION: list[Any] = [{"role": "user", "content": "Which city? \u2028 \U0001f600"}]
TOOLS: list[Any] = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]


class Place(BaseModel):
    city: str


def chat(client: Any, **more: Any) -> Any:
    return client.chat.completions.create(
        model="m", messages=QUESTION, temperature=0.5, extra_body={"x_new": {"a": None}}, **more
    )


def messages(client: Any, **more: Any) -> Any:
    system = [{"type": "text", "text": "Be good.", "cache_control": {"type": "ephemeral"}}]
    return client.messages.create(model="m", max_tokens=9, messages=QUESTION, system=system, **more)


OPENAI: dict[str, Callable[[Any], Any]] = {
    "chat": chat,
    "chat with tools": lambda client: chat(client, tools=TOOLS, tool_choice="auto"),
    "chat stream": lambda client: chat(client, stream=True),
    "chat stream with usage": lambda client: chat(client, stream=True, stream_options={"include_usage": True}),
    "chat parse": lambda client: client.chat.completions.parse(model="m", messages=QUESTION, response_format=Place),
    "chat stream helper": lambda client: client.chat.completions.stream(model="m", messages=QUESTION),
    "chat raw": lambda client: client.chat.completions.with_raw_response.create(model="m", messages=QUESTION),
    "chat raw stream": lambda client: client.chat.completions.with_raw_response.create(
        model="m", messages=QUESTION, stream=True
    ),
    "chat streaming response": lambda client: client.chat.completions.with_streaming_response.create(
        model="m", messages=QUESTION
    ),
    "chat with options": lambda client: chat(client.with_options(max_retries=0, timeout=20)),
    "chat copy": lambda client: chat(client.copy(default_headers={"x-mine": "1"})),
    "responses": lambda client: client.responses.create(model="m", input="Which city?", instructions="Be good."),
    "responses items": lambda client: client.responses.create(
        model="m",
        store=False,
        include=["reasoning.encrypted_content"],
        input=[
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "AAA=", "status": "completed"},
            {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": '{"a":1}{"a":2}'},
            {"type": "function_call_output", "call_id": "call_1", "output": "x"},
        ],
    ),
    "responses stream": lambda client: client.responses.create(model="m", input="Which city?", stream=True),
    "responses parse": lambda client: client.responses.parse(model="m", input="Which city?", text_format=Place),
    "responses raw": lambda client: client.responses.with_raw_response.create(model="m", input="Which city?"),
    "responses stream helper": lambda client: client.responses.stream(model="m", input="Which city?"),
}
ANTHROPIC: dict[str, Callable[[Any], Any]] = {
    "messages": messages,
    "messages stream": lambda client: messages(client, stream=True),
    "messages stream helper": lambda client: client.messages.stream(model="m", max_tokens=9, messages=QUESTION),
    "messages parse": lambda client: client.messages.parse(
        model="m", max_tokens=9, messages=QUESTION, output_format=Place
    ),
    "messages raw": lambda client: client.messages.with_raw_response.create(model="m", max_tokens=9, messages=QUESTION),
    "messages streaming response": lambda client: client.messages.with_streaming_response.create(
        model="m", max_tokens=9, messages=QUESTION
    ),
    "messages beta": lambda client: client.beta.messages.create(
        model="m", max_tokens=9, messages=QUESTION, betas=["x-1"]
    ),
    "messages with options": lambda client: messages(client.with_options(max_retries=0)),
    "messages thinking": lambda client: client.messages.create(
        model="m",
        max_tokens=9,
        messages=[
            *QUESTION,
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "A", "signature": "sig1"},
                    {"type": "redacted_thinking", "data": "zzz"},
                    {"type": "thinking", "thinking": "B", "signature": "sig2"},
                    {"type": "tool_use", "id": "t1", "name": "f", "input": {}},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}]},
        ],
        extra_body={"x_new": 1},
    ),
}


def seen(value: Any) -> Any:
    """Everything that a program can see of an SDK object, read to its end."""
    if hasattr(value, "__enter__") and not hasattr(value, "model_dump"):
        with value as entered:
            return [type(value), seen_inside(entered)]
    return seen_inside(value)


def seen_inside(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return [type(value), value.model_dump(warnings=False), getattr(value, "_request_id", None)]
    if hasattr(value, "parse") and hasattr(value, "headers"):
        parsed = value.parse()
        again = value.parse()
        kept = {name: text for name, text in value.headers.items() if name != "date"}
        return [type(value), value.status_code, kept, parsed is again, seen(parsed), value.http_response.is_closed]
    return [type(value), [seen_inside(item) for item in value]]


async def aseen(value: Any) -> Any:
    if hasattr(value, "__aenter__") and not hasattr(value, "model_dump"):
        async with value as entered:
            return [type(value), await aseen_inside(entered)]
    return await aseen_inside(value)


async def aseen_inside(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return [type(value), value.model_dump(warnings=False), getattr(value, "_request_id", None)]
    if hasattr(value, "parse") and hasattr(value, "headers"):
        parsed = value.parse()
        if inspect.isawaitable(parsed):
            parsed = await parsed
        kept = {name: text for name, text in value.headers.items() if name != "date"}
        return [type(value), value.status_code, kept, await aseen(parsed), value.http_response.is_closed]
    return [type(value), [await aseen_inside(item) async for item in value]]


async def run_async(program: Callable[[Any], Any], client: Any) -> Any:
    async with client:
        value = program(client)
        return await aseen(await value if inspect.iscoroutine(value) else value)


def run_sync(program: Callable[[Any], Any], client: Any) -> Any:
    with client:
        return seen(program(client))


def headers_of(requests: list[Any]) -> list[dict[str, str]]:
    return [{name: text for name, text in request.headers.items() if name != "host"} for request in requests]


def check(program: Callable[[Any], Any], make: Callable[[Loopback], Any], run: Callable[..., Any], path: Path) -> None:
    with Loopback(answer) as server:
        plain = run(program, make(server))
        sent_plainly = list(server.requests)
    with Loopback(answer) as server, record(path) as rec:
        recorded = run(program, rec.wrap(make(server)))
        sent = list(server.requests)

    assert recorded == plain
    assert [request.body for request in sent] == [request.body for request in sent_plainly]
    assert headers_of(sent) == headers_of(sent_plainly)
    assert bodies(rec.path) == [request.body for request in sent]
    request, reply = events(rec.path, "llm_request", "llm_response")
    assert reply.parent == request.id
    assert reply.payload["text"] == TEXT
    assert reply.meta.get("stream") in (None, {"complete": True, "reason": None})
    assert reply.meta["status"] == 200


@pytest.mark.parametrize("program", OPENAI.values(), ids=OPENAI)
def test_openai_is_recorded_and_undisturbed(program: Callable[[Any], Any], tmp_path: Path) -> None:
    check(program, lambda server: OpenAI(base_url=server.url, api_key="k"), run_sync, tmp_path / "t.jsonl")


@pytest.mark.parametrize("program", OPENAI.values(), ids=OPENAI)
def test_async_openai_is_recorded_and_undisturbed(program: Callable[[Any], Any], tmp_path: Path) -> None:
    def run(program: Callable[[Any], Any], client: Any) -> Any:
        return asyncio.run(run_async(program, client))

    check(program, lambda server: AsyncOpenAI(base_url=server.url, api_key="k"), run, tmp_path / "t.jsonl")


@pytest.mark.parametrize("program", ANTHROPIC.values(), ids=ANTHROPIC)
def test_anthropic_is_recorded_and_undisturbed(program: Callable[[Any], Any], tmp_path: Path) -> None:
    check(program, lambda server: Anthropic(base_url=server.root, api_key="k"), run_sync, tmp_path / "t.jsonl")


@pytest.mark.parametrize("program", ANTHROPIC.values(), ids=ANTHROPIC)
def test_async_anthropic_is_recorded_and_undisturbed(program: Callable[[Any], Any], tmp_path: Path) -> None:
    def run(program: Callable[[Any], Any], client: Any) -> Any:
        return asyncio.run(run_async(program, client))

    check(program, lambda server: AsyncAnthropic(base_url=server.root, api_key="k"), run, tmp_path / "t.jsonl")
