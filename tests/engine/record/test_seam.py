"""A call that passes several clients, transports and recordings is one call of one recording."""

from __future__ import annotations

import asyncio
import copy
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, Loopback, Received
from openai import AsyncOpenAI, OpenAI
from provider import CHAT, answer, bodies, events
from sdk_http import library as httpx2

import runtape
from runtape.record import record

QUESTION: list[Any] = [{"role": "user", "content": "go"}]


def ask(client: Any, text: str = "go") -> Any:
    return client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])


def moved(received: Received) -> Answer:
    if received.path.startswith("/old"):
        return Answer({}, status=307, headers={"location": received.path.removeprefix("/old")})
    return answer(received)


@pytest.mark.parametrize("capture", [False, True])
def test_a_call_that_is_sent_on_to_another_address_is_one_call(tmp_path: Path, capture: bool) -> None:
    with Loopback(moved) as server, OpenAI(base_url=f"{server.root}/old/v1", api_key="k") as client:
        with record(tmp_path / "t.jsonl", capture=capture) as rec:
            if not capture:
                rec.wrap(client)
            ask(client)
        assert len(server.requests) == 2
        with runtape.replay(rec.path) as replayed:
            ask(client)
            assert replayed.left == []
        assert len(server.requests) == 2
    assert len(bodies(rec.path)) == 1
    assert len(events(rec.path, "llm_response")) == 1


@pytest.mark.parametrize("inner", ["wrap", "capture"])
@pytest.mark.parametrize("outer", ["wrap", "capture"])
def test_of_two_recordings_around_a_call_the_inner_one_has_it(tmp_path: Path, outer: str, inner: str) -> None:
    def begin(name: str, how: str) -> Any:
        rec = record(tmp_path / f"{name}.jsonl", capture=how == "capture")
        return rec, rec.wrap(client) if how == "wrap" else client

    with Loopback(answer) as server, OpenAI(base_url=server.url, api_key="k") as client:
        first, _ = begin("outer", outer)
        second, _ = begin("inner", inner)
        ask(client, "inner")
        second.close()
        ask(client, "outer")
        first.close()
    assert [body["messages"][0]["content"] for body in bodies(first.path)] == ["outer"]
    assert [body["messages"][0]["content"] for body in bodies(second.path)] == ["inner"]


def test_clients_over_one_transport_keep_to_their_own_recordings(tmp_path: Path) -> None:
    def client() -> Any:
        return httpx2.Client(transport=transport, base_url="http://127.0.0.1/v1")

    def post(client: Any, text: str) -> None:
        client.post("/chat/completions", json={"model": "m", "messages": [{"role": "user", "content": text}]})

    def reply(_: Any) -> Any:
        return httpx2.Response(200, json=CHAT)

    transport = httpx2.MockTransport(reply)
    one, other, nobodys = client(), client(), client()
    with record(tmp_path / "1.jsonl") as first, record(tmp_path / "2.jsonl") as second:
        first.wrap(one)
        post(copy.copy(one), "a copy, while it can only be of this client")
        second.wrap(other)
        post(one, "one")
        post(other, "other")
        post(nobodys, "nobody's")
    texts = [[body["messages"][0]["content"] for body in bodies(rec.path)] for rec in (first, second)]
    assert texts == [["a copy, while it can only be of this client", "one"], ["other"]]


def test_a_send_that_gives_something_to_await_is_awaited(tmp_path: Path) -> None:
    async def main(url: str, wrap: Any) -> Any:
        made: Any = AsyncOpenAI(base_url=url, api_key="k")
        async with made as client:
            inner = client._client.send

            def own(*args: Any, **kwargs: Any) -> Any:
                return inner(*args, **kwargs)

            client._client.send = own
            return (await ask(wrap(client))).model_dump()

    with Loopback(answer) as server:
        with record(tmp_path / "t.jsonl") as rec:
            said = asyncio.run(main(server.url, rec.wrap))
        assert events(rec.path, "llm_response")[0].payload["raw"] == CHAT
        with runtape.replay(rec.path) as replayed:
            assert asyncio.run(main(server.url, replayed.wrap)) == said
        assert len(server.requests) == 1
    assert len(events(rec.path, "llm_request")) == 1


def test_calls_of_clients_that_were_not_wrapped_are_counted_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (
        Loopback(answer) as server,
        OpenAI(base_url=server.url, api_key="k") as client,
        OpenAI(base_url=server.url, api_key="k") as forgotten,
    ):
        with record(tmp_path / "t.jsonl") as rec:
            ask(rec.wrap(client))
            ask(forgotten)
            ask(forgotten)
            forgotten.models.list()
        with record(tmp_path / "by_hand.jsonl") as by_hand:
            ask(by_hand.wrap(client))
            by_hand.log_llm_request(provider="p", api="chat.completions", model="m", messages=QUESTION)
            ask(forgotten)
    assert len(bodies(rec.path)) == 1
    assert events(rec.path, "run_end")[0].payload["missed"] == 2
    assert "missed" not in events(by_hand.path, "run_end")[0].payload
    told = "runtape: t.jsonl lacks 2 of the model calls; pass their clients to rec.wrap(client) too\n"
    assert capsys.readouterr().err == told
