"""A call that the agent gave up is given up again: it is not answered, nor does it fail before that."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from loopback import Answer, Loopback, Received, chat_reply, sse

import runtape

HEAD = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}


@pytest.fixture
def server() -> Iterator[Loopback]:
    """Answers `fast`, and nothing else while the test runs; of a stream it sends the first word."""
    over = threading.Event()

    def chunks() -> Iterator[bytes]:
        yield from sse(
            {**HEAD, "choices": [{"index": 0, "delta": {"content": "one"}, "finish_reason": None}]}, done=False
        )
        over.wait(20)

    def answer(received: Received) -> Answer:
        if received.body.get("stream"):
            return Answer(chunks=chunks())
        if received.body["messages"][0]["content"] != "fast":
            over.wait(20)
        return Answer(chat_reply("fast"))

    with Loopback(answer) as running:
        yield running
        over.set()


async def ask(client: Any, text: str) -> str:
    reply = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
    return str(reply.choices[0].message.content)


async def race(client: Any) -> list[str]:
    """Two at once; the slower one is cancelled."""
    tasks = [asyncio.create_task(ask(client, text)) for text in ("slow", "fast")]
    done, left = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in left:
        task.cancel()
    return [task.result() for task in done]


async def deadline(client: Any) -> list[str]:
    try:
        return [await asyncio.wait_for(ask(client, "slow"), 0.2)]
    except asyncio.TimeoutError:
        return ["too slow", await ask(client, "fast")]


async def streamed(client: Any) -> list[str]:
    words: list[str] = []

    async def read() -> None:
        stream = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "slow"}], stream=True
        )
        async for chunk in stream:
            words.append(chunk.choices[0].delta.content)
            got.set()
        words.append("the end")

    got = asyncio.Event()
    task = asyncio.create_task(read())
    await got.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return words


@pytest.mark.parametrize("agent", [race, deadline, streamed])
def test_what_was_given_up_is_given_up_again(tmp_path: Path, server: Loopback, agent: Any) -> None:
    async def run(wrap: Any) -> list[str]:
        made: Any = openai.AsyncOpenAI(base_url=server.url, api_key="k", max_retries=0)
        async with made as client:
            return await agent(wrap(client))  # type: ignore[no-any-return]

    with runtape.record(tmp_path / "run.jsonl") as rec:
        said = asyncio.run(run(rec.wrap))
    sent = len(server.requests)
    with runtape.replay(rec.path) as replayed:
        assert asyncio.run(run(replayed.wrap)) == said
        assert replayed.left == []
    assert len(server.requests) == sent
