"""A stream that the program leaves early, loses or never reads is one reply, and reads as it would unrecorded."""

from __future__ import annotations

import asyncio
import gc
import gzip
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, Loopback, Received, sse
from openai import APIConnectionError, APIError, AsyncOpenAI, OpenAI
from provider import chat_chunks, events, the_reply
from sdk_http import library as httpx2
from sdk_http import only_new

from runtape.record import Recorder, record

CHUNKS = sse(*chat_chunks("one", " two", " three"))


def three_words(_: Received) -> Answer:
    return Answer(chunks=CHUNKS)


def ask(client: Any, **more: Any) -> Any:
    return client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "count"}], stream=True, **more
    )


def first_word(stream: Any) -> str:
    for chunk in stream:
        return str(chunk.choices[0].delta.content)
    raise AssertionError


def told(rec: Recorder) -> tuple[Any, Any, Any]:
    reply = the_reply(rec.path)
    stream: Any = reply.meta["stream"]
    return reply.payload["text"], stream["complete"], stream["reason"]


def client_of(server: Loopback) -> OpenAI:
    return OpenAI(base_url=server.url, api_key="k", max_retries=0)


def test_a_stream_closed_after_its_first_word(tmp_path: Path) -> None:
    with Loopback(three_words) as server, record(tmp_path / "t.jsonl") as rec:
        stream = ask(rec.wrap(client_of(server)))
        assert first_word(stream) == "one"
        stream.close()
        stream.close()
        assert told(rec) == ("one", False, "closed")


def test_a_stream_left_by_its_block(tmp_path: Path) -> None:
    with Loopback(three_words) as server, record(tmp_path / "t.jsonl") as rec:
        with ask(rec.wrap(client_of(server))) as stream:
            assert first_word(stream) == "one"
        assert told(rec) == ("one", False, "closed")


def test_a_stream_left_by_break_is_recorded_when_it_is_dropped(tmp_path: Path) -> None:
    # The client outlives the stream, and closes the connection that the stream left open.
    with Loopback(three_words) as server, record(tmp_path / "t.jsonl") as rec, client_of(server) as client:
        stream = ask(rec.wrap(client))
        assert first_word(stream) == "one"
        del stream
        gc.collect()
        rec.note("next")
        assert [event.type for event in events(rec.path)] == ["run_start", "llm_request", "llm_response", "log"]
    text, complete, _ = told(rec)
    assert (text, complete) == ("one", False)


def test_a_stream_still_open_at_the_end_of_the_run(tmp_path: Path) -> None:
    with Loopback(three_words) as server:
        with record(tmp_path / "t.jsonl") as rec:
            stream = ask(rec.wrap(client_of(server)))
            assert first_word(stream) == "one"
        assert told(rec) == ("one", False, "run closed")
        assert [chunk.choices[0].delta.content for chunk in stream] == [" two", " three", None]
        assert len(events(rec.path, "llm_response")) == 1


def test_a_stream_that_is_never_read(tmp_path: Path) -> None:
    with Loopback(three_words) as server, record(tmp_path / "t.jsonl") as rec:
        ask(rec.wrap(client_of(server))).close()
        text, complete, reason = told(rec)
        assert (text or "", complete, reason) == ("", False, "closed")


def test_a_streaming_response_that_is_never_read(tmp_path: Path) -> None:
    with Loopback(three_words) as server, record(tmp_path / "t.jsonl") as rec:
        create = rec.wrap(client_of(server)).chat.completions.with_streaming_response.create
        with create(model="m", messages=[], stream=True) as response:
            assert response.headers["content-type"] == "text/event-stream"
        text, complete, reason = told(rec)
        assert (text or "", complete, reason) == ("", False, "closed")


@only_new
def test_a_dropped_connection_raises_as_unrecorded(tmp_path: Path) -> None:
    def dropped(_: Received) -> Answer:
        return Answer(chunks=CHUNKS[:1], drop=True)

    def read(client: OpenAI) -> tuple[list[Any], BaseException]:
        said: list[Any] = []
        with pytest.raises(APIConnectionError) as caught:
            said.extend(chunk.choices[0].delta.content for chunk in ask(client))
        assert caught.value.__cause__ is not None
        return said, caught.value.__cause__

    with Loopback(dropped) as server:
        said_plainly, plain = read(client_of(server))
        with record(tmp_path / "t.jsonl") as rec:
            said, cause = read(rec.wrap(client_of(server)))
    assert said == said_plainly == ["one"]
    assert (type(cause), str(cause)) == (type(plain), str(plain))
    assert told(rec) == ("one", False, "failed")
    error: Any = the_reply(rec.path).payload["error"]
    assert error["type"] == type(plain).__name__


@only_new
def test_what_an_sdk_meets_behind_the_end_of_a_stream_is_no_failure_of_the_reply(tmp_path: Path) -> None:
    async def read(url: str) -> list[Any]:
        async with AsyncOpenAI(base_url=url, api_key="k", max_retries=0) as client:
            return [chunk.choices[0].delta.content async for chunk in await ask(rec.wrap(client))]

    with Loopback(lambda _: Answer(chunks=CHUNKS, drop=True)) as server, record(tmp_path / "t.jsonl") as rec:
        assert asyncio.run(read(server.url)) == ["one", " two", " three", None]
    reply = the_reply(rec.path)
    assert "error" not in reply.payload
    stream: Any = reply.meta["stream"]
    assert (stream["complete"], stream["behind"]["type"]) == (True, "RemoteProtocolError")


def test_a_server_that_stops_short_without_an_error(tmp_path: Path) -> None:
    with Loopback(lambda _: Answer(chunks=CHUNKS[:2])) as server, record(tmp_path / "t.jsonl") as rec:
        assert len(list(ask(rec.wrap(client_of(server))))) == 2
        assert told(rec) == ("one two", False, "cut short")


@only_new
def test_an_error_in_mid_stream_is_the_programs_and_recorded(tmp_path: Path) -> None:
    broken = sse(chat_chunks("one")[0], {"error": {"message": "too busy", "type": "overloaded"}}, done=False)
    with Loopback(lambda _: Answer(chunks=broken)) as server, record(tmp_path / "t.jsonl") as rec:
        with pytest.raises(APIError, match="too busy"):
            list(ask(rec.wrap(client_of(server))))
        assert told(rec)[:2] == ("one", False)
    assert the_reply(rec.path).payload["error"] == {"type": "overloaded", "message": "too busy"}


def test_an_async_stream_left_early_and_a_cancelled_one(tmp_path: Path) -> None:
    hold = threading.Event()

    def slow(received: Received) -> Answer:
        def chunks() -> Iterator[bytes]:
            yield CHUNKS[0]
            if received.index == 1:
                hold.wait(30)

        return Answer(chunks=chunks())

    async def read() -> None:
        async with AsyncOpenAI(base_url=server.url, api_key="k", max_retries=0) as client:
            rec.wrap(client)
            async with await ask(client) as stream:
                async for chunk in stream:
                    assert chunk.choices[0].delta.content == "one"
                    break
            begun = asyncio.Event()

            async def all_of_it() -> None:
                async for _ in await ask(client):
                    begun.set()

            task = asyncio.create_task(all_of_it())
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with Loopback(slow) as server:
        with record(tmp_path / "t.jsonl") as rec:
            asyncio.run(read())
        hold.set()
    closed, cancelled = events(rec.path, "llm_response")
    assert (closed.payload["text"], closed.meta["stream"]) == ("one", {"complete": False, "reason": "closed"})
    assert (cancelled.payload["text"], cancelled.meta["stream"]) == ("one", {"complete": False, "reason": "cancelled"})


def test_nothing_is_read_on_the_programs_behalf(tmp_path: Path) -> None:
    source = Source([b"data: 1\n\n", b"data: 2\n\n"])
    with record(tmp_path / "t.jsonl") as rec, httpx2.Client(transport=httpx2.MockTransport(source.respond)) as client:
        rec.wrap(client)
        with client.stream("POST", "http://127.0.0.1/v1/chat/completions", json={"messages": []}) as response:
            assert (source.given, source.closed) == (0, 0)
            chunks = response.iter_raw()
            assert next(chunks) == b"data: 1\n\n"
            assert (source.given, source.closed) == (1, 0)
        assert (source.given, source.closed) == (1, 1)


def test_a_response_dropped_without_closing_is_recorded_before_the_next_event(tmp_path: Path) -> None:
    source = Source(CHUNKS)
    with record(tmp_path / "t.jsonl") as rec, httpx2.Client(transport=httpx2.MockTransport(source.respond)) as client:
        rec.wrap(client)
        request = client.build_request("POST", "http://127.0.0.1/v1/chat/completions", json={"messages": []})
        assert client.send(request, stream=True).status_code == 200
        gc.collect()
        rec.note("next")
        assert [event.type for event in events(rec.path)] == ["run_start", "llm_request", "llm_response", "log"]
    text, complete, reason = told(rec)
    assert (text or "", complete, reason) == ("", False, "collected")
    assert (source.given, source.closed) == (0, 0)


def test_an_async_stream_is_passed_on_as_it_is(tmp_path: Path) -> None:
    failure = httpx2.ReadError("gone")
    source = AsyncSource([b"data: 1\n\n", failure])

    got: list[bytes] = []

    async def read() -> None:
        async with (
            httpx2.AsyncClient(transport=httpx2.MockTransport(source.respond)) as client,
            rec.wrap(client).stream("POST", "http://127.0.0.1/v1/chat/completions", json={"messages": []}) as response,
        ):
            async for chunk in response.aiter_raw():
                got.append(chunk)  # noqa: PERF401 -- what came before the failure is looked at

    with record(tmp_path / "t.jsonl") as rec:
        with pytest.raises(httpx2.ReadError) as caught:
            asyncio.run(read())
        assert caught.value is failure
    assert got == [b"data: 1\n\n"]
    assert source.closed == 1
    assert the_reply(rec.path).meta["stream"] == {"complete": False, "reason": "failed"}


def test_a_compressed_stream_is_recorded_as_text(tmp_path: Path) -> None:
    packed = gzip.compress(b"".join(CHUNKS))

    def respond(_: httpx2.Request) -> httpx2.Response:
        headers = {"content-type": "text/event-stream", "content-encoding": "gzip"}
        return httpx2.Response(200, headers=headers, stream=Pieces([packed[:20], packed[20:-9]]))

    with record(tmp_path / "t.jsonl") as rec, httpx2.Client(transport=httpx2.MockTransport(respond)) as client:
        rec.wrap(client)
        with client.stream("POST", "http://127.0.0.1/v1/chat/completions", json={"messages": []}) as response:
            response.read()
            assert response.elapsed.total_seconds() > 0
    assert the_reply(rec.path).payload["text"] == "one two three"


class Pieces(httpx2.SyncByteStream):
    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        yield from self.pieces


class Source(httpx2.SyncByteStream):
    """A body that counts what is taken of it."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces
        self.given = self.closed = 0

    def respond(self, _: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=self)

    def __iter__(self) -> Iterator[bytes]:
        for piece in self.pieces:
            self.given += 1
            yield piece

    def close(self) -> None:
        self.closed += 1


class AsyncSource(httpx2.AsyncByteStream):
    """A body that ends with an exception."""

    def __init__(self, pieces: list[bytes | Exception]) -> None:
        self.pieces = pieces
        self.closed = 0

    def respond(self, _: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=self)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece

    async def aclose(self) -> None:
        self.closed += 1
