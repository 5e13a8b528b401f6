"""A recorded call cancelled at any of its checkpoints ends as an unrecorded one does, and its record says how."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from loopback import Loopback
from openai import AsyncOpenAI
from provider import TEXT, answer, events
from sdk_http import library as httpx2

from runtape.record import record

BEFORE, DURING = 5, 15
"""Checkpoints before a request is sent, and while its streamed answer is read."""


class Checkpoints:
    """The places where the task of a call gives way to others; at one of them it is cancelled."""

    def __init__(self, at: int) -> None:
        self.passed = 0
        self._at = at

    async def pass_one(self) -> None:
        self.passed += 1
        if self.passed == self._at:
            task = asyncio.current_task()
            assert task is not None
            task.cancel(f"at {self._at}")
        await asyncio.sleep(0)


class Transport(httpx2.AsyncHTTPTransport):
    """The library's own, with checkpoints."""

    def __init__(self, checkpoints: Checkpoints) -> None:
        super().__init__(verify=False)  # no certificates are read for 127.0.0.1
        self._checkpoints = checkpoints

    async def handle_async_request(self, request: Any) -> Any:
        for _ in range(BEFORE):
            await self._checkpoints.pass_one()
        response = await super().handle_async_request(request)
        response.stream = Pieces(response.stream, self._checkpoints)
        return response


class Pieces(httpx2.AsyncByteStream):  # type: ignore[misc, name-defined]
    """A stream in pieces, with a checkpoint before each."""

    def __init__(self, inner: Any, checkpoints: Checkpoints) -> None:
        self.inner = inner
        self._checkpoints = checkpoints
        self._left: list[bytes] | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._left is None:  # an SDK may begin again, to read on
            whole = b"".join([chunk async for chunk in self.inner])
            size = -(-len(whole) // DURING)
            self._left = [whole[start : start + size] for start in range(0, len(whole), size)]
        while self._left:
            await self._checkpoints.pass_one()
            yield self._left.pop(0)

    async def aclose(self) -> None:
        await self.inner.aclose()


async def chat(http: Any, server: Loopback) -> Any:
    client = AsyncOpenAI(base_url=server.url, api_key="k", http_client=http, max_retries=0)
    asked: Any = [{"role": "user", "content": "go"}]
    return await client.chat.completions.create(model="m", stream=True, messages=asked)


async def messages(http: Any, server: Loopback) -> Any:
    client = AsyncAnthropic(base_url=server.root, api_key="k", http_client=http, max_retries=0)
    asked: Any = [{"role": "user", "content": "go"}]
    return await client.messages.create(model="m", max_tokens=9, stream=True, messages=asked)


async def outcome(program: Any, server: Loopback, at: int, wrap: Any) -> tuple[Any, ...]:
    """Everything that the program can tell of a call that is cancelled at this checkpoint."""
    checkpoints, seen, steps = Checkpoints(at), [], 0

    async def call() -> None:
        async with (
            httpx2.AsyncClient(transport=Transport(checkpoints)) as http,
            await program(wrap(http), server) as stream,
        ):
            async for event in stream:
                seen.append(event.model_dump(warnings=False))  # noqa: PERF401 -- what came before the cancellation stays

    task = asyncio.create_task(call())
    while checkpoints.passed < at and not task.done():  # noqa: ASYNC110 -- rounds of the loop are what is counted
        await asyncio.sleep(0)
    # From the cancellation on the network has no say in how often the loop goes round.
    while not task.done():
        await asyncio.sleep(0)
        steps += 1
    try:
        await task
    except asyncio.CancelledError as error:
        return seen, steps, task.cancelled(), error.args, checkpoints.passed
    return seen, None, task.cancelled(), None, checkpoints.passed


@pytest.mark.parametrize("program", [chat, messages])
def test_a_call_is_cancelled_at_any_checkpoint_as_if_it_were_not_recorded(program: Any, tmp_path: Path) -> None:
    with Loopback(answer) as server:
        for at in range(1, BEFORE + DURING + 2):  # the last one is never reached
            plain = asyncio.run(outcome(program, server, at, lambda http: http))
            with record(tmp_path / f"{at}.jsonl") as rec:
                recorded = asyncio.run(outcome(program, server, at, rec.wrap))
            assert recorded == plain
            reached = at <= BEFORE + DURING
            assert plain[2:4] == ((True, (f"at {at}",)) if reached else (False, None))
            request, reply = events(rec.path, "llm_request", "llm_response")
            assert reply.parent == request.id
            error: Any = reply.payload.get("error")
            stream: Any = reply.meta.get("stream")
            if at <= BEFORE:
                assert (reply.payload["raw"], error["type"], stream) == (None, "CancelledError", None)
            elif stream["complete"]:  # from the end mark on there is nothing to lose
                assert (reply.payload["text"], error) == (TEXT, None)
                assert not reached or stream["behind"]["type"] == "CancelledError"
            else:
                assert error["type"] == "CancelledError"
                assert stream == {"complete": False, "reason": "cancelled"}
                assert TEXT.startswith(str(reply.payload["text"] or ""))
