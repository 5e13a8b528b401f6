"""The recording proxy, as a process of its own between real SDKs and a loopback provider."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anthropic
import openai
import pytest
from loopback import Answer, Loopback, Received

import runtape


@contextmanager
def proxy(upstream: str, folder: Path) -> Generator[str]:
    """The address of a running proxy; ended as a person would."""
    command = [
        sys.executable,
        "-m",
        "runtape.cli",
        "proxy",
        "--upstream",
        upstream,
        "--port",
        "0",
        "--dir",
        str(folder),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield line.split()[2].rstrip(",")
        finally:
            process.send_signal(signal.SIGINT)
            process.stdout.read()
            assert process.wait(20) == 0


class Between:
    """One proxy for many tests: what the provider does is set by each, and the traces are those it made."""

    def __init__(
        self, server: Loopback, scripts: list[Callable[[Received], Answer]], address: str, folder: Path
    ) -> None:
        self.server, self._scripts, self.address, self._folder = server, scripts, address, folder
        self._before: set[Path] = set()

    def provider(self, script: Callable[[Received], Answer]) -> None:
        self._scripts[:] = [script]
        self.server.requests.clear()
        self._before = set(self._folder.glob("*.jsonl"))

    def traces(self) -> list[runtape.Trace]:
        return [runtape.load(path) for path in sorted(set(self._folder.glob("*.jsonl")) - self._before)]


@pytest.fixture(scope="module")
def between(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Between]:
    folder = tmp_path_factory.mktemp("traces")
    scripts: list[Callable[[Received], Answer]] = []

    def script(received: Received) -> Answer:
        return scripts[0](received)

    with Loopback(script) as server, proxy(server.root, folder) as address:
        yield Between(server, scripts, address, folder)


def chat(received: Received) -> Answer:
    message = {"role": "assistant", "content": f"answer to {len(received.body['messages'])}"}
    body = {
        "id": f"chatcmpl-{received.index}",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
    }
    return Answer(body)


def traces(folder: Path) -> list[runtape.Trace]:
    return [runtape.load(path) for path in sorted(folder.glob("*.jsonl"))]


def ask(client: openai.OpenAI, messages: list[Any], **more: Any) -> str:
    chats: Any = client.chat.completions
    reply = chats.create(model="m", messages=messages, **more)
    messages.append({"role": "assistant", "content": reply.choices[0].message.content})
    return str(reply.choices[0].message.content)


def test_each_growing_conversation_becomes_one_trace(tmp_path: Path) -> None:
    with Loopback(chat) as server, proxy(server.url, tmp_path) as address:
        with openai.OpenAI(base_url=f"{address}/v1", api_key="sk-secret-key-of-the-agent-1234") as client:
            one: list[Any] = [{"role": "user", "content": "one"}]
            other: list[Any] = [{"role": "user", "content": "other"}]
            for turn in range(3):
                for conversation in (one, other):
                    ask(client, conversation)
                    conversation.append({"role": "user", "content": f"go on {turn}"})
        assert {request.headers["authorization"] for request in server.requests} == {
            "Bearer sk-secret-key-of-the-agent-1234"
        }
    found = traces(tmp_path)
    assert [len(trace.calls) for trace in found] == [3, 3]
    assert all("secret-key-of" not in trace.path.read_text() for trace in found)
    assert {trace.request(trace.calls[0].request).body["messages"][0]["content"] for trace in found} == {"one", "other"}  # type: ignore[index, call-overload]
    assert {trace.events[-1].type for trace in found} == {"run_end"}


def test_two_runs_that_begin_alike_are_two_traces_and_a_named_one_is_one(between: Between) -> None:
    between.provider(chat)
    begin: list[Any] = [{"role": "user", "content": "same"}]
    with openai.OpenAI(base_url=f"{between.address}/v1", api_key="k") as client:
        ask(client, list(begin))
        ask(client, list(begin))
        for _ in range(2):
            ask(client, list(begin), extra_headers={"x-runtape-run": "night job"})
    assert all("x-runtape-run" not in request.headers for request in between.server.requests)
    assert sorted(len(trace.calls) for trace in between.traces()) == [1, 1, 2]


def test_a_stream_passes_chunk_by_chunk_before_the_upstream_has_ended(tmp_path: Path) -> None:
    first_read = threading.Event()

    def chunks() -> Iterator[bytes]:
        piece: dict[str, Any] = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        for text in ("one", " two"):
            choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
            yield f"data: {json.dumps({**piece, 'choices': [choice]})}\n\n".encode()
            assert first_read.wait(20)  # the second piece is not made before the program has the first
        yield b"data: [DONE]\n\n"

    with (
        Loopback(lambda _: Answer(chunks=chunks())) as server,
        proxy(server.url, tmp_path) as address,
        openai.OpenAI(base_url=f"{address}/v1", api_key="k") as client,
    ):
        said: list[str | None] = []
        for chunk in client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "x"}], stream=True
        ):
            said.append(chunk.choices[0].delta.content)
            first_read.set()
    assert said == ["one", " two"]
    (trace,) = traces(tmp_path)
    assert trace.reply(trace.calls[0].request).text == "one two"


def test_bytes_and_headers_of_both_directions_are_what_they_were(between: Between) -> None:
    odd = b'{"messages": [ {"role":"user","content":"\\u00e9"} ],  "model":"m", "x":1.0}'
    answered = b'{"id" : "a",  "choices":[]}'
    reply = Answer(chunks=[answered], headers={"x-Request-Id": "r1", "content-type": "application/json; odd=1"})
    seen: list[Received] = []

    def script(received: Received) -> Answer:
        seen.append(received)
        return reply

    between.provider(script)
    straight = raw_post(between.server.url + "/chat/completions?a=b%20c", odd)
    passed = raw_post(f"{between.address}/v1/chat/completions?a=b%20c", odd)
    hop = {"transfer-encoding", "connection", "date", "server"}
    assert passed[0] == straight[0]
    assert {k: v for k, v in passed[1].items() if k not in hop} == {
        k: v for k, v in straight[1].items() if k not in hop
    }
    assert passed[2] == straight[2] == answered
    first, second = seen
    assert second.path == first.path
    assert second.body == first.body
    assert {k: v for k, v in second.headers.items() if k not in ("host", *hop)} == {
        k: v for k, v in first.headers.items() if k not in ("host", *hop)
    }


def raw_post(url: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
    split = urlsplit(url)
    connection = http.client.HTTPConnection(split.netloc, timeout=20)
    try:
        connection.request(
            "POST", f"{split.path}?{split.query}", body, {"x-odd": "1", "content-type": "application/json"}
        )
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    finally:
        connection.close()


def test_anthropic_and_responses_pass_and_a_chain_by_id_is_one_conversation(between: Between) -> None:
    def script(received: Received) -> Answer:
        if received.path.endswith("/messages"):
            content = [{"type": "text", "text": "hi"}]
            usage = {"input_tokens": 1, "output_tokens": 1}
            return Answer(
                {"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": content, "usage": usage}
            )
        text: Any = [{"type": "output_text", "text": "hi", "annotations": []}]
        item: Any = {"type": "message", "id": "i", "role": "assistant", "status": "completed", "content": text}
        head = {
            "id": f"resp_{received.index}",
            "object": "response",
            "created_at": 1,
            "model": "m",
            "status": "completed",
        }
        return Answer({**head, "output": [item], "tools": [], "tool_choice": "auto", "parallel_tool_calls": True})

    between.provider(script)
    with anthropic.Anthropic(base_url=between.address, api_key="k") as client:
        client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}])
    with openai.OpenAI(base_url=f"{between.address}/v1", api_key="k") as sdk:
        first = sdk.responses.create(model="m", input="one")
        sdk.responses.create(model="m", input="two", previous_response_id=first.id)
    assert sorted(len(trace.calls) for trace in between.traces()) == [1, 2]


def test_retries_of_the_sdk_are_attempts_of_one_call(tmp_path: Path) -> None:
    def script(received: Received) -> Answer:
        return (
            Answer({"error": {"message": "busy"}}, status=500, headers={"retry-after-ms": "1"})
            if received.index == 0
            else chat(received)
        )

    with (
        Loopback(script) as server,
        proxy(server.url, tmp_path) as address,
        openai.OpenAI(base_url=f"{address}/v1", api_key="k", max_retries=2) as client,
    ):
        ask(client, [{"role": "user", "content": "x"}])
    (trace,) = traces(tmp_path)
    assert len(trace.calls) == 1
    assert trace.calls[0].response is not None
    assert trace.calls[0].response.meta["attempts"] == 2


def test_an_upstream_that_is_down_is_a_clear_502(tmp_path: Path) -> None:
    with (
        proxy("http://127.0.0.1:9", tmp_path) as address,
        openai.OpenAI(base_url=address, api_key="k", max_retries=0) as client,
        pytest.raises(openai.InternalServerError, match="no answer from"),
    ):
        ask(client, [{"role": "user", "content": "x"}])
    (trace,) = traces(tmp_path)
    assert trace.calls[0].response is not None


def test_a_program_that_hangs_up_hangs_up_on_the_upstream(between: Between) -> None:
    ended = threading.Event()

    def endless() -> Iterator[bytes]:
        try:
            while True:
                yield b"data: {}\n\n"
        finally:
            ended.set()

    between.provider(lambda _: Answer(chunks=endless()))
    connection = http.client.HTTPConnection(urlsplit(between.address).netloc, timeout=20)
    body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "x"}]})
    connection.request("POST", "/v1/chat/completions", body)
    connection.getresponse().read(10)
    connection.close()
    assert ended.wait(20)


@pytest.mark.parametrize("target", ["http://evil.test/v1/chat/completions", "//evil.test/v1/chat/completions"])
def test_nothing_goes_anywhere_but_to_the_upstream(between: Between, target: str) -> None:
    between.provider(chat)
    connection = http.client.HTTPConnection(urlsplit(between.address).netloc, timeout=20)
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}]})
    connection.request("POST", target, body, {"host": urlsplit(between.address).netloc})
    connection.getresponse().read()
    connection.close()
    (request,) = between.server.requests
    assert request.headers["host"] == urlsplit(between.server.url).netloc
    assert request.path.endswith("/v1/chat/completions")


@pytest.mark.parametrize(
    ("method", "target", "headers", "status"),
    [
        ("POST", "/v1/chat/completions", {"host": "rebind.test"}, 403),
        ("POST", "/v1/chat/completions", {"origin": "http://evil.test"}, 403),
        ("POST", "/v1/chat/completions", {"origin": "null"}, 403),
        ("POST", "/v1/chat/completions", {"sec-fetch-site": "cross-site"}, 403),
        ("POST", "/v1/../../other/chat/completions", {}, 400),
        ("POST", "/v1/%2e%2E/chat/completions", {}, 400),
        ("CONNECT", "evil.test:443", {}, 405),
    ],
)
def test_pages_of_other_sites_and_ways_around_the_upstream_are_refused(
    between: Between, method: str, target: str, headers: dict[str, str], status: int
) -> None:
    between.provider(chat)
    connection = http.client.HTTPConnection(urlsplit(between.address).netloc, timeout=20)
    connection.request(method, target, json.dumps({"model": "m", "messages": []}), headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    assert response.status == status
    assert between.server.requests == []
    assert between.traces() == []


@pytest.mark.parametrize(
    "upstream", ["api.openai.com", "ftp://host/", "http://user:pw@host/v1", "http://", "https://host/v1?key=1"]
)
def test_an_upstream_that_is_no_address_is_refused(upstream: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "runtape.cli", "proxy", "--upstream", upstream],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "must be an http or https address" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with Loopback(chat) as server:
        port = str(urlsplit(server.url).port)
        done = subprocess.run(
            [sys.executable, "-m", "runtape.cli", "proxy", "--upstream", "http://127.0.0.1:9", "--port", port],
            capture_output=True, text=True, check=False, timeout=60, cwd=tmp_path, env={**os.environ},
        )  # fmt: skip
    assert done.returncode == 2
    assert port in done.stderr
