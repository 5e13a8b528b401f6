"""Every model call lands in the run that it belongs to, once."""

from __future__ import annotations

import asyncio
import contextvars
import copy
import gc
import json
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback
from openai import AsyncOpenAI, OpenAI
from provider import CHAT, TEXT, answer, bodies, events
from sdk_http import library as httpx2

from runtape.errors import BadInput
from runtape.record import Recorder, record


def ask(client: Any, text: str = "go") -> Any:
    return client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])


def asked(rec: Recorder) -> list[str]:
    found: list[str] = []
    for event in events(rec.path, "llm_request"):
        messages: Any = event.payload.get("messages", event.payload.get("messages_append"))
        found.append(messages[0]["content"])
    return found


def fake_client() -> OpenAI:
    return OpenAI(
        base_url="http://127.0.0.1:9/v1",
        api_key="k",
        http_client=httpx2.Client(transport=httpx2.MockTransport(lambda _: httpx2.Response(200, json=CHAT))),
    )


def test_a_client_wrapped_twice_is_recorded_once_and_given_back(tmp_path: Path) -> None:
    with fake_client() as client:
        own = client._client.send
        with record(tmp_path / "t.jsonl") as rec:
            assert rec.wrap(client) is client
            assert rec.wrap(client.with_options(timeout=3)) is not client
            rec.wrap(client)
            assert client._client.send.__name__ == "send"
            ask(client)
        assert client._client.send == own
        assert "send" not in vars(client._client)
        ask(client)
    assert len(events(rec.path, "llm_request")) == 1


def test_somebody_elses_replacement_is_left_in_place(tmp_path: Path) -> None:
    with fake_client() as client:
        with record(tmp_path / "t.jsonl") as rec:
            rec.wrap(client)
            inner = client._client.send

            def theirs(*args: Any, **kwargs: Any) -> Any:
                return inner(*args, **kwargs)

            client._client.send = theirs  # type: ignore[method-assign]
            ask(client)
        assert client._client.send is theirs
        ask(client)
    assert len(events(rec.path, "llm_request")) == 1


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="frees by reference counts")
def test_a_dropped_client_is_freed_at_once_as_it_is_unrecorded(tmp_path: Path) -> None:
    with record(tmp_path / "t.jsonl") as rec:
        client = httpx2.Client(transport=httpx2.MockTransport(lambda _: httpx2.Response(200, json=CHAT)))
        rec.wrap(client)
        client.post("http://127.0.0.1/v1/chat/completions", json={"messages": []})
        client.close()
        dropped = weakref.ref(client)
        del client
        assert dropped() is None


def test_two_runs_at_once_in_threads_do_not_mix(tmp_path: Path) -> None:
    barrier = threading.Barrier(2)

    def agent(name: str) -> Recorder:
        with record(tmp_path / f"{name}.jsonl") as rec:
            rec.wrap(client)

            @rec.tool
            def tool(x: int) -> int:
                return x

            for i in range(20):
                barrier.wait(20)
                ask(client, f"{name} {i}")
                tool(i)
        return rec

    with fake_client() as client, ThreadPoolExecutor(2) as pool:
        a, b = pool.map(agent, ["a", "b"])
    for rec, name in ((a, "a"), (b, "b")):
        assert asked(rec) == [f"{name} {i}" for i in range(20)]
        assert len(events(rec.path, "tool_call")) == 20
        assert not any("unattributed" in event.meta for event in events(rec.path))


def test_two_runs_at_once_in_tasks_do_not_mix(tmp_path: Path) -> None:
    async def agent(name: str, client: AsyncOpenAI, turn: asyncio.Semaphore, other: asyncio.Semaphore) -> Recorder:
        with record(tmp_path / f"{name}.jsonl", capture=True) as rec:
            for i in range(10):
                await turn.acquire()
                await ask(client, f"{name} {i}")
                other.release()
        return rec

    async def main() -> tuple[Recorder, Recorder]:
        first, second = asyncio.Semaphore(1), asyncio.Semaphore(0)
        async with AsyncOpenAI(base_url=server.url, api_key="k") as client:
            return await asyncio.gather(agent("a", client, first, second), agent("b", client, second, first))

    with Loopback(answer) as server:
        a, b = asyncio.run(main())
    assert asked(a) == [f"a {i}" for i in range(10)]
    assert asked(b) == [f"b {i}" for i in range(10)]


def test_a_run_follows_the_context_into_other_threads(tmp_path: Path) -> None:
    with fake_client() as client, record(tmp_path / "outer.jsonl") as outer, record(tmp_path / "inner.jsonl") as inner:
        outer.wrap(client)
        inner.wrap(client)
        context = contextvars.copy_context()
        with ThreadPoolExecutor(1) as pool:
            pool.submit(context.run, ask, client, "copied").result()
        asyncio.run(through_to_thread(client))
        with ThreadPoolExecutor(1) as pool:
            pool.submit(ask, client, "bare").result()
    assert asked(outer) == []
    assert asked(inner) == ["copied", "to_thread", "bare"]
    marks = [event.meta.get("unattributed") for event in events(inner.path, "llm_request")]
    assert marks == [None, None, True]


async def through_to_thread(client: OpenAI) -> None:
    await asyncio.to_thread(ask, client, "to_thread")


def test_a_bare_thread_is_certain_when_one_run_wrapped_the_client(tmp_path: Path) -> None:
    with fake_client() as client, record(tmp_path / "t.jsonl") as rec:
        rec.wrap(client)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(ask, client, "bare").result()
    assert asked(rec) == ["bare"]
    assert not any("unattributed" in event.meta for event in events(rec.path))


def test_runs_that_do_not_end_in_order(tmp_path: Path) -> None:
    first = record(tmp_path / "1.jsonl", capture=True)
    second = record(tmp_path / "2.jsonl", capture=True)
    with fake_client() as client:
        first.close()
        ask(client, "second")
        second.close()
        ask(client, "nobody")
    assert (asked(first), asked(second)) == ([], ["second"])
    assert events(second.path, "llm_request")[0].meta == {}


def test_capture_sees_every_client_and_each_call_once(tmp_path: Path) -> None:
    own = (httpx2.Client.send, httpx2.AsyncClient.send)
    with Loopback(answer) as server:
        with record(tmp_path / "t.jsonl", capture=True) as rec, OpenAI(base_url=server.url, api_key="k") as client:
            ask(client, "sdk")
            rec.wrap(client)
            ask(client, "sdk wrapped")
            httpx2.post(f"{server.url}/chat/completions", json={"model": "m", "messages": [{"content": "plain"}]})
            httpx2.post(f"{server.url}/embeddings", json={"input": "x"})
            with httpx2.stream(
                "POST", f"{server.url}/chat/completions", json={"messages": [{"content": "streamed"}]}
            ) as response:
                response.read()
        with OpenAI(base_url=server.url, api_key="k") as client:
            ask(client, "after")
    assert asked(rec) == ["sdk", "sdk wrapped", "plain", "streamed"]
    assert len(events(rec.path, "llm_response")) == 4
    assert (httpx2.Client.send, httpx2.AsyncClient.send) == own


@pytest.mark.parametrize("name", ["httpx", "httpx2"])
def test_plain_clients_of_both_libraries_are_recorded(tmp_path: Path, name: str) -> None:
    library = pytest.importorskip(name)
    request = {"model": "m", "messages": [{"role": "user", "content": "go"}]}

    async def asynchronous(url: str) -> Any:
        async with library.AsyncClient() as client, rec.wrap(client).stream("POST", url, json=request) as response:
            return [line async for line in response.aiter_lines()]

    with Loopback(answer) as server, record(tmp_path / "t.jsonl") as rec, library.Client() as client:
        url = f"{server.url}/chat/completions"
        assert rec.wrap(client).post(url, json=request).json() == CHAT
        with client.stream("POST", url, json={**request, "stream": True}) as response:
            lines = list(response.iter_lines())
        assert lines[-2] == "data: [DONE]"
        assert asyncio.run(asynchronous(url)) == [json.dumps(CHAT)]
        sent = [received.body for received in server.requests]
    assert bodies(rec.path) == sent
    assert [event.payload["text"] for event in events(rec.path, "llm_response")] == [TEXT] * 3


def test_only_model_calls_of_a_wrapped_client_are_recorded(tmp_path: Path) -> None:
    with (
        Loopback(answer) as server,
        record(tmp_path / "t.jsonl") as rec,
        OpenAI(base_url=server.url, api_key="k") as client,
    ):
        rec.wrap(client)
        client.embeddings.create(model="m", input="x", encoding_format="float")
    assert [event.type for event in events(rec.path)] == ["run_start", "run_end"]


def test_a_chat_model_is_recorded_through_the_clients_that_it_holds(tmp_path: Path) -> None:
    class ChatModel:
        """Shaped as LangChain's ChatOpenAI."""

        def __init__(self, url: str) -> None:
            self.root_client = OpenAI(base_url=url, api_key="k")
            self.root_async_client = AsyncOpenAI(base_url=url, api_key="k")
            self.client = self.root_client.chat.completions

    async def close(model: ChatModel) -> None:
        await ask(model.root_async_client, "async")
        await model.root_async_client.close()

    with Loopback(answer) as server, record(tmp_path / "t.jsonl") as rec:
        model = rec.wrap(ChatModel(server.url))
        model.client.create(model="m", messages=[{"role": "user", "content": "sync"}])
        asyncio.run(close(model))
        model.root_client.close()
    assert asked(rec) == ["sync", "async"]


@pytest.mark.parametrize("thing", [None, "text", object(), {"_client": 1}])
def test_what_cannot_be_wrapped_comes_back_with_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], thing: Any
) -> None:
    with record(tmp_path / "t.jsonl") as rec:
        assert rec.wrap(thing) is thing
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert type(thing).__name__ in said
    with record(tmp_path / "s.jsonl", strict=True) as rec, pytest.raises(BadInput, match="httpx"):
        rec.wrap(thing)


@pytest.mark.parametrize("keep", [lambda http: http.send, lambda http: copy.copy(http).send], ids=["method", "copy"])
def test_what_the_program_keeps_of_a_client_works_without_the_client(tmp_path: Path, keep: Any) -> None:
    request = httpx2.Request("POST", "http://127.0.0.1/v1/chat/completions", json={"messages": []})
    with record(tmp_path / "t.jsonl") as rec:
        client = httpx2.Client(transport=httpx2.MockTransport(lambda _: httpx2.Response(200, json=CHAT)))
        rec.wrap(client)
        send = keep(client)
        del client
        gc.collect()
        assert send(request).json() == CHAT
        client = httpx2.Client(transport=httpx2.MockTransport(lambda _: httpx2.Response(200, json=CHAT)))
        fields = dict(vars(client))
        rec.wrap(client)
        assert vars(client) == fields
        assert client.send.__self__ is client
    assert send(request).json() == CHAT
    assert len(events(rec.path, "llm_request")) == 1


def test_a_client_with_a_send_of_its_own_gets_it_back(tmp_path: Path) -> None:
    with fake_client() as client:
        inner = client._client.send

        def own(*args: Any, **kwargs: Any) -> Any:
            return inner(*args, **kwargs)

        client._client.send = own  # type: ignore[method-assign]
        with record(tmp_path / "t.jsonl") as rec:
            rec.wrap(client)
            ask(client)
        assert client._client.send is own
    assert len(events(rec.path, "llm_request")) == 1


def test_clients_that_are_not_wrapped_are_not_recorded(tmp_path: Path) -> None:
    with fake_client() as wrapped, fake_client() as other, record(tmp_path / "t.jsonl") as rec:
        rec.wrap(wrapped)
        ask(other)
        ask(wrapped)
    assert len(events(rec.path, "llm_request")) == 1
