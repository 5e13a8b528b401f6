"""Whatever a provider sends, the program sees the same with and without recording, and the request can be rebuilt."""

from __future__ import annotations

import gzip
import itertools
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anthropic
import openai
from hypothesis import given, settings
from hypothesis import strategies as st
from provider import CHAT, MESSAGES, bodies, chat_chunks, events
from sdk_http import library as httpx2

from runtape.record import record
from runtape.trace.redact import redact

scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
words = st.text(max_size=8) | st.sampled_from(["data: ", "\n\n", "[DONE]", "\u2028", "tool_calls", "é"])


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists: st.SearchStrategy[Any] = st.lists(inner, max_size=3)
    objects: st.SearchStrategy[Any] = st.dictionaries(words, inner, max_size=3)
    return lists | objects


values: st.SearchStrategy[Any] = st.recursive(scalars | words, containers, max_leaves=6)


@st.composite
def broken(draw: Callable[[Any], Any]) -> Any:
    """An answer of a provider with any value in one of its places."""
    body = json.loads(json.dumps(draw(st.sampled_from([CHAT, MESSAGES, *chat_chunks("one")]))))
    at: Any = body
    containing = (dict, list)
    while True:
        key = draw(st.sampled_from([*at.keys()] if hasattr(at, "keys") else [*range(len(at))]))
        if not at[key] or type(at[key]) not in containing or draw(st.booleans()):
            at[key] = draw(values)
            return body
        at = at[key]


payloads = values | broken()
plain_bodies = payloads.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=20)
stream_bodies = st.lists(
    payloads.map(lambda value: f"data: {json.dumps(value)}\n\n".encode())
    | st.sampled_from([b": ping\n\n", b"event: error\n", b"data: [DONE]\n\n", b"\r\n", b"data:", b"\xff", b"\n\n"]),
    max_size=5,
).map(b"".join)


@st.composite
def answers(draw: Callable[[Any], Any]) -> dict[str, Any]:
    """Status, headers, and the chunks of a body with what it fails with at its end."""
    streamed = draw(st.booleans())
    body = draw(stream_bodies if streamed else plain_bodies)
    kind = draw(st.sampled_from(["text/event-stream", "application/json", "text/plain", ""]))
    headers = {"content-type": kind, "x-any": draw(st.sampled_from(["", "a, b", "é"]))}
    if draw(st.booleans()):
        body, headers["content-encoding"] = gzip.compress(body), "gzip"
    cuts = sorted(draw(st.sets(st.integers(0, len(body)), max_size=4)) | {0, len(body)})
    chunks = [body[start:end] for start, end in itertools.pairwise(cuts)]
    return {
        "status": draw(st.sampled_from([200, 200, 200, 201, 400, 429, 500, 529])),
        "headers": headers,
        "chunks": chunks,
        "fails": draw(st.sampled_from([None, None, httpx2.ReadError, httpx2.RemoteProtocolError, ValueError])),
    }


class Body(httpx2.SyncByteStream):
    def __init__(self, chunks: list[bytes], fails: type[Exception] | None) -> None:
        self._chunks, self._fails = chunks, fails
        self.closed = 0

    def __iter__(self) -> Iterator[bytes]:
        yield from self._chunks
        if self._fails is not None:
            raise self._fails("broke")

    def close(self) -> None:
        self.closed += 1


class Provider(httpx2.BaseTransport):
    """Gives one answer, and keeps what it was sent and the bodies it gave."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self._answer = answer
        self.sent: list[tuple[Any, Any]] = []
        self.given: list[Body] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.sent.append((request.read(), sorted(request.headers.multi_items())))
        self.given.append(Body(self._answer["chunks"], self._answer["fails"]))
        return httpx2.Response(self._answer["status"], headers=self._answer["headers"], stream=self.given[-1])


Seen = list[Any]


def outcome(step: Callable[[], Any]) -> Any:
    """What a step gives or raises, as far as a program can tell."""
    try:
        value = step()
    except Exception as error:  # noqa: BLE001 -- any error is an outcome to be compared
        cause = type(error.__cause__), type(error.__context__)
        return type(error), str(error), cause
    return type(value), value if not hasattr(value, "model_dump") else repr(value)


def read_whole(client: httpx2.Client, body: Any) -> Seen:
    def post() -> Any:
        response = client.post("/v1/chat/completions", json=body)
        return response.status_code, response.headers.multi_items(), response.content, response.is_closed

    return [outcome(post)]


def read_lines(client: httpx2.Client, body: Any) -> Seen:
    seen: Seen = []

    def post() -> None:
        with client.stream("POST", "/v1/messages", json=body) as response:
            seen.append((response.status_code, response.headers.multi_items()))
            seen.extend(response.iter_lines())

    return [outcome(post), *seen]


def read_one_and_leave(client: httpx2.Client, body: Any) -> Seen:
    def post() -> Any:
        with client.stream("POST", "/v1/responses", json=body) as response:
            return next(response.iter_raw(), None), response.num_bytes_downloaded

    return [outcome(post)]


def ask_openai(client: httpx2.Client, body: Any) -> Seen:
    sdk = openai.OpenAI(base_url="http://127.0.0.1/v1", api_key="k", http_client=client, max_retries=0)
    seen: Seen = []

    def create() -> None:
        for chunk in sdk.chat.completions.create(model="m", messages=[], stream=True, extra_body={"x": body}):
            seen.append(repr(chunk))

    return [outcome(create), *seen]


def ask_anthropic(client: httpx2.Client, body: Any) -> Seen:
    sdk = anthropic.Anthropic(base_url="http://127.0.0.1", api_key="k", http_client=client, max_retries=0)
    return [outcome(lambda: sdk.messages.create(model="m", max_tokens=1, messages=[], extra_body={"x": body}))]


programs = st.sampled_from([read_whole, read_lines, read_one_and_leave, ask_openai, ask_anthropic])


@settings(deadline=None, max_examples=150)
@given(program=programs, answer=answers(), body=st.dictionaries(words, values, max_size=3))
def test_a_program_cannot_tell_whether_it_is_recorded(program: Any, answer: dict[str, Any], body: Any) -> None:
    plain = Provider(answer)
    bare = httpx2.Client(transport=plain, base_url="http://127.0.0.1")
    with bare:
        unrecorded = program(bare, body)
    watched = Provider(answer)
    with tempfile.TemporaryDirectory() as folder, record(Path(folder) / "t.jsonl") as rec:
        client = httpx2.Client(transport=watched, base_url="http://127.0.0.1")
        with client:
            recorded = program(rec.wrap(client), body)
        rec.close()
        sent = [json.loads(raw) for raw, _ in watched.sent]
        assert recorded == unrecorded
        assert watched.sent == plain.sent
        assert [given.closed for given in watched.given] == [given.closed for given in plain.given]
        assert bodies(rec.path) == [redact(request) for request in sent]
        assert len(events(rec.path, "llm_response")) == len(sent)
        (end,) = events(rec.path, "run_end")
        assert "failures" not in end.payload
