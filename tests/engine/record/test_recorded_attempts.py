"""Attempts that an SDK makes for one call are one call; failures are replies too."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import openai
import pytest
from anthropic import Anthropic
from loopback import Answer, Loopback, Received
from openai import AsyncOpenAI, OpenAI
from provider import CHAT, MESSAGES, events, the_reply
from sdk_http import library as httpx2

from runtape.record import record

AT_ONCE = {"retry-after-ms": "1"}
MESSAGES_SENT: list[Any] = [{"role": "user", "content": "go"}]


def failing_first(*statuses: int) -> Any:
    def script(received: Received) -> Answer:
        if received.index < len(statuses):
            error = {"error": {"message": "try later", "type": "busy"}}
            return Answer(error, status=statuses[received.index], headers=AT_ONCE)
        return Answer(MESSAGES if received.path.endswith("/messages") else CHAT)

    return script


def ask(client: Any, **more: Any) -> Any:
    return client.chat.completions.create(model="m", messages=MESSAGES_SENT, **more)


@pytest.mark.parametrize("stream", [False, True])
def test_attempts_of_one_call_are_one_call(tmp_path: Path, *, stream: bool) -> None:
    with Loopback(failing_first(429, 500)) as server, record(tmp_path / "t.jsonl") as rec:
        client = rec.wrap(OpenAI(base_url=server.url, api_key="k", max_retries=2))
        answered = ask(client, stream=stream)
        if stream:
            answered.close()
        assert len(server.requests) == 3
    request, reply = events(rec.path, "llm_request", "llm_response")
    assert (reply.parent, reply.meta["attempts"], reply.meta["status"]) == (request.id, 3, 200)
    failed = [event for event in events(rec.path, "log") if event.payload["message"] == "attempt failed"]
    assert [(event.payload["attempt"], event.meta["status"], event.parent) for event in failed] == [
        (1, 429, 1),
        (2, 500, 1),
    ]


def test_attempts_of_anthropic_and_of_async_clients(tmp_path: Path) -> None:
    with Loopback(failing_first(529)) as server, record(tmp_path / "a.jsonl") as rec:
        client = rec.wrap(Anthropic(base_url=server.root, api_key="k"))
        client.messages.create(model="m", max_tokens=1, messages=MESSAGES_SENT)
    assert the_reply(rec.path).meta["attempts"] == 2

    async def several() -> None:
        async with AsyncOpenAI(base_url=server.url, api_key="k", max_retries=2) as client:
            rec.wrap(client)
            await asyncio.gather(*(ask(client) for _ in range(4)))

    with Loopback(failing_first(*[500] * 4)) as server, record(tmp_path / "b.jsonl") as rec:
        asyncio.run(several())
    assert len(events(rec.path, "llm_request")) == 4
    assert sum(int(str(event.meta.get("attempts", 1))) for event in events(rec.path, "llm_response")) == 8


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_a_call_that_fails_for_good_has_one_reply_with_the_error(tmp_path: Path, status: int) -> None:
    with Loopback(failing_first(*[status] * 3)) as server, record(tmp_path / "t.jsonl") as rec:
        client = rec.wrap(OpenAI(base_url=server.url, api_key="k", max_retries=1))
        with pytest.raises(openai.APIStatusError) as caught:
            ask(client)
        assert caught.value.status_code == status
        rec.note("went on")
        written = [event.type for event in events(rec.path)]
        assert written[-2:] == ["llm_response", "log"]
        sent = len(server.requests)
    reply = the_reply(rec.path)
    assert reply.payload["error"] == {"type": "busy", "message": "try later", "status": status}
    assert reply.payload["raw"] == {"error": {"message": "try later", "type": "busy"}}
    assert reply.meta.get("attempts", 1) == sent == (1 if status < 429 else 2)


def test_identical_calls_made_on_purpose_stay_two(tmp_path: Path) -> None:
    with Loopback(failing_first(500)) as server, record(tmp_path / "t.jsonl") as rec:
        client = rec.wrap(OpenAI(base_url=server.url, api_key="k", max_retries=0))
        with pytest.raises(openai.InternalServerError):
            ask(client)
        ask(client)
    failed, answered = events(rec.path, "llm_response")
    assert [request.id for request in events(rec.path, "llm_request")] == [failed.parent, answered.parent]
    assert ("error" in failed.payload, "error" in answered.payload) == (True, False)


def test_a_server_that_cannot_be_reached_raises_the_same_error(tmp_path: Path) -> None:
    def refuse(request: httpx2.Request) -> httpx2.Response:
        raise refused

    refused = httpx2.ConnectError("nobody there")
    with record(tmp_path / "t.jsonl") as rec, httpx2.Client(transport=httpx2.MockTransport(refuse)) as http:
        client = rec.wrap(OpenAI(base_url="http://127.0.0.1:9/v1", api_key="k", http_client=http, max_retries=0))
        with pytest.raises(openai.APIConnectionError) as caught:
            ask(client)
        assert caught.value.__cause__ is refused
    reply = the_reply(rec.path)
    assert reply.payload["error"] == {"type": "ConnectError", "message": "nobody there"}
    assert reply.meta["latency_ms"] is not None


def test_a_cancelled_call_is_recorded_and_cancelled(tmp_path: Path) -> None:
    async def main() -> None:
        started = asyncio.Event()

        async def never(_: httpx2.Request) -> httpx2.Response:
            started.set()
            await asyncio.Event().wait()
            raise AssertionError

        http = httpx2.AsyncClient(transport=httpx2.MockTransport(never))
        client = rec.wrap(AsyncOpenAI(base_url="http://127.0.0.1:9/v1", api_key="k", http_client=http))
        task = asyncio.create_task(ask(client))
        await started.wait()
        task.cancel("enough")
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()
        await client.close()

    with record(tmp_path / "t.jsonl") as rec:
        asyncio.run(main())
    error: Any = the_reply(rec.path).payload["error"]
    assert error["type"] == "CancelledError"
