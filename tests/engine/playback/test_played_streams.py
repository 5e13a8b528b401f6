"""A recorded stream is played back byte for byte, in the chunks that came, and ends the way it ended."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from loopback import Answer, Loopback, Received

import runtape

NOBODY = "http://127.0.0.1:9"
ODD = [
    b": a remark that no assembled reply keeps\n\n",
    b'data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"del',
    b'ta":{"content":"on"},"finish_reason":null}],"x_new":[1.50]}\r\n\r\n',
    (
        b'data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,'
        b'"delta":{"content":"e"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    ),
]


def record(folder: Path, answer: Answer, use: Any) -> tuple[Path, Any]:
    """The trace of what `use` does with a client, and what it gave."""
    with Loopback(lambda _: answer) as server, runtape.record(folder / "run.jsonl") as recorder:
        client = recorder.wrap(httpx2.Client(base_url=server.root))
        with client:
            seen = use(client)
    return recorder.path, seen


def play(trace: Path, use: Any) -> Any:
    with runtape.replay(trace) as replayed:
        client = replayed.wrap(httpx2.Client(base_url=NOBODY))
        with client:
            return use(client)


def read_all(client: httpx2.Client) -> list[bytes]:
    with client.stream("POST", "/v1/chat/completions", json={"model": "m", "stream": True}) as response:
        return list(response.iter_raw())


def test_chunks_and_bytes_are_the_recorded_ones(tmp_path: Path) -> None:
    trace, seen = record(tmp_path, Answer(chunks=ODD), read_all)
    assert b"".join(seen) == b"".join(ODD)
    assert play(trace, read_all) == seen


def test_a_stream_left_early_can_be_left_at_the_same_place(tmp_path: Path) -> None:
    def first(client: httpx2.Client) -> bytes:
        with client.stream("POST", "/v1/chat/completions", json={"model": "m", "stream": True}) as response:
            return next(response.iter_raw())

    trace, seen = record(tmp_path, Answer(chunks=ODD), first)
    assert play(trace, first) == seen


def test_a_stream_that_broke_breaks_after_the_same_bytes(tmp_path: Path) -> None:
    def until_it_breaks(client: httpx2.Client) -> tuple[bytes, str]:
        got = b""
        with client.stream("POST", "/v1/chat/completions", json={"model": "m", "stream": True}) as response:
            try:
                for chunk in response.iter_raw():
                    got += chunk
            except httpx2.TransportError as error:
                return got, "broke" if isinstance(error, (httpx2.ReadError, httpx2.RemoteProtocolError)) else "?"
        return got, "ended"

    trace, seen = record(tmp_path, Answer(chunks=ODD[:3], drop=True), until_it_breaks)
    assert seen == (b"".join(ODD[:3]), "broke")
    assert play(trace, until_it_breaks) == seen


def dumped(events: Any) -> list[Any]:
    return [event.model_dump() for event in events]


def ask_chat(url: str, wrap: Any) -> Any:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client:
        stream = wrap(client).chat.completions.create(
            model="m", messages=[{"role": "user", "content": "q"}], stream=True
        )
        return dumped(stream)


def ask_messages(url: str, wrap: Any) -> Any:
    with anthropic.Anthropic(base_url=url, api_key="k", max_retries=0) as client:
        stream = wrap(client).messages.create(
            model="m", max_tokens=9, messages=[{"role": "user", "content": "q"}], stream=True
        )
        return dumped(stream)


def ask_async(url: str, wrap: Any) -> Any:
    async def ask() -> list[Any]:
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client:
            stream = await wrap(client).chat.completions.create(
                model="m", messages=[{"role": "user", "content": "q"}], stream=True
            )
            return [event.model_dump() async for event in stream]

    return asyncio.run(ask())


MESSAGES = [
    (
        b'event: message_start\ndata: {"type":"message_start","message":{"id":"m1","type":"message","role":"assistant",'
        b'"model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":0}}}\n\n'
    ),
    b'event: ping\ndata: {"type":"ping"}\n\n',
    (
        b'event: content_block_start\ndata: {"type":"content_block_start","index":0,'
        b'"content_block":{"type":"thinking","thinking":"","signature":""}}\n\n'
    ),
    (
        b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
        b'"delta":{"type":"thinking_delta","thinking":"A"}}\n\n'
    ),
    (
        b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
        b'"delta":{"type":"signature_delta","signature":"c2ln"}}\n\n'
    ),
    b'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
    (
        b'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}'
        b"\n\n"
    ),
    b'event: message_stop\ndata: {"type":"message_stop"}\n\n',
]


def of_the_path(received: Received) -> Answer:
    return Answer(chunks=MESSAGES if received.path.endswith("/messages") else ODD)


@pytest.mark.parametrize("ask", [ask_chat, ask_messages, ask_async])
def test_the_sdks_see_the_same_events(tmp_path: Path, ask: Any) -> None:
    with Loopback(of_the_path) as server, runtape.record(tmp_path / "run.jsonl") as recorder:
        seen = ask(server.root, recorder.wrap)
    with runtape.replay(recorder.path) as replayed:
        assert ask(NOBODY, replayed.wrap) == seen
    assert len(seen) > 1
