"""The chunks of a stream are kept as they came, unless there is anything in them that must not be written."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import Answer, Loopback, sse
from provider import chat_chunks, messages_events, responses_events, the_reply
from sdk_http import library as httpx2

from runtape.record import record
from runtape.trace.events import Event
from runtape.trace.streams import Stream, chunks, packed
from runtape.wire.values import JsonObject

CHAT = sse(*chat_chunks("one", " two", " three"))


def recorded(folder: Path, pieces: list[bytes], path: str = "/v1/chat/completions", **options: Any) -> Path:
    """The trace of one streamed call, read to its end."""
    with Loopback(lambda _: Answer(chunks=pieces)) as server, record(folder / "t.jsonl", **options) as rec:
        client = rec.wrap(httpx2.Client(base_url=server.root))
        with client, client.stream("POST", path, json={"model": "m", "stream": True}) as response:
            assert b"".join(response.iter_raw()) == b"".join(pieces)
    return rec.path


def left_out(reply: Event) -> Any:
    """Why the chunks are not there; None when they are."""
    told: Any = reply.meta["stream"]
    assert told["complete"] is True
    return told.get("left_out")


@pytest.mark.parametrize(
    ("path", "pieces"),
    [
        ("/v1/chat/completions", CHAT),
        ("/v1/responses", responses_events("o", "ne")),
        ("/v1/messages", messages_events("o", "ne")),
        (
            "/v1/chat/completions",
            [b": a remark\r\n\r\n", b"data:{}\r", b"\n\r\n", "data: é\n\n".encode(), b"\xff\xfe", *CHAT],
        ),
    ],
)
def test_every_byte_is_kept(tmp_path: Path, path: str, pieces: list[bytes]) -> None:
    reply = the_reply(recorded(tmp_path, pieces, path))
    assert b"".join(chunks(reply.payload["stream"]) or ()) == b"".join(pieces)
    assert left_out(reply) is None


SECRET = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize(
    "pieces",
    [
        sse(*chat_chunks(f"it is {SECRET} here")),
        sse(*chat_chunks("it is gh", "p_a1B2a1B2a1", "B2a1B2a1B2a1B2a1B2a1B2 here")),
        sse({"unknown": {"api_key": "tiny"}}, *chat_chunks("one")),
        sse({"new": {"part": SECRET[:9]}}, {"new": {"part": SECRET[9:]}}, *chat_chunks("one")),
        [f": {SECRET}\n\n".encode(), *CHAT],
    ],
    ids=["in one event", "over several events", "under its name", "where nobody looks", "in a remark"],
)
def test_a_stream_with_a_secret_is_not_kept(tmp_path: Path, pieces: list[bytes]) -> None:
    reply = the_reply(recorded(tmp_path, pieces))
    assert "stream" not in reply.payload
    assert "redaction found something" in left_out(reply)


def test_a_function_that_redacts_is_not_led_around(tmp_path: Path) -> None:
    def unchanged(event: JsonObject) -> JsonObject:
        return event

    reply = the_reply(recorded(tmp_path, CHAT, redact=unchanged))
    assert "stream" not in reply.payload
    assert "redact function" in left_out(reply)


def test_a_long_stream_leaves_its_length_and_hash(tmp_path: Path) -> None:
    pieces = sse(*chat_chunks(*(["word " * 20_000] * 41)))
    reply = the_reply(recorded(tmp_path, pieces))
    whole = b"".join(pieces)
    assert reply.payload["stream"] == {"bytes": len(whole), "sha256": hashlib.sha256(whole).hexdigest()}
    assert "too long" in left_out(reply)


def test_a_compressed_stream_is_kept_as_its_text(tmp_path: Path) -> None:
    whole = b"".join(CHAT)
    answer = Answer(chunks=[gzip.compress(whole)], headers={"content-encoding": "gzip"})
    with Loopback(lambda _: answer) as server, record(tmp_path / "t.jsonl") as rec:
        client = rec.wrap(httpx2.Client(base_url=server.root))
        with client, client.stream("POST", "/v1/chat/completions", json={"stream": True}) as response:
            assert b"".join(response.iter_bytes()) == whole
    assert chunks(the_reply(rec.path).payload["stream"]) == (whole,)


def test_a_stream_takes_little_room(tmp_path: Path) -> None:
    pieces = sse(*chat_chunks(*(f"word{number} " for number in range(200))))
    path = recorded(tmp_path, pieces)
    stored = len(json.dumps(the_reply(path).payload["stream"]))
    assert stored < len(b"".join(pieces)) / 8


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_chunks_come_out_as_they_went_in(pieces: list[bytes]) -> None:
    stream = Stream(b"".join(pieces), tuple(map(len, pieces)))
    assert chunks(json.loads(json.dumps(packed(stream)))) == tuple(pieces)


BOMB = packed(Stream(b"x" * 1_000_000, (1_000_000,)))


@pytest.mark.parametrize(
    "field",
    [
        None,
        [],
        {},
        {"bytes": 3, "sha256": "0"},
        {**BOMB, "bytes": 10, "chunks": [10]},
        {**BOMB, "bytes": 10**12, "chunks": [10**12]},
        {**BOMB, "chunks": [-1, 1_000_001]},
        {**BOMB, "chunks": [True, 999_999.0]},
        {**BOMB, "data": "no base64"},
        {**BOMB, "data": "bm8gemxpYg=="},
        {**BOMB, "encoding": "other"},
    ],
)
def test_a_field_that_holds_no_stream_is_none(field: Any) -> None:
    assert chunks(field) is None
