"""While a replay runs, nothing that the agent would send leaves the process: it is answered, or refused by name."""
# ruff: noqa: PT012 -- the end of the replay is what raises, so its whole block stands under pytest.raises

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from loopback import Answer, Loopback, Received, chat_reply

import runtape

CHAT = "/v1/chat/completions"


def answer(received: Received) -> Answer:
    if received.path == CHAT:
        return Answer(chat_reply(f"{received.body['messages'][0]['content']}, said {received.index}"))
    return Answer({"object": "list", "data": [], "id": "x", "input_tokens": 1, "model": "m", "usage": {}})


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback(answer) as running:
        yield running


@pytest.fixture
def client(server: Loopback) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=server.url, api_key="k", max_retries=0) as made:
        yield made


def ask(client: Any, text: str = "go") -> str:
    reply = client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
    return str(reply.choices[0].message.content)


def record(path: Path, client: openai.OpenAI, *texts: str) -> tuple[Path, list[str]]:
    with runtape.record(path) as rec:
        rec.wrap(client)
        return rec.path, [ask(client, text) for text in texts]


REQUESTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "embeddings": (lambda c: c.embeddings.create(model="m", input="x"), "POST {}/embeddings"),
    "moderations": (lambda c: c.moderations.create(input="x"), "POST {}/moderations"),
    "models": (lambda c: c.models.list(), "GET {}/models"),
    "files": (lambda c: c.files.create(file=b"{}", purpose="batch"), "POST {}/files"),
    "batches": (
        lambda c: c.batches.create(completion_window="24h", endpoint="/v1/responses", input_file_id="f"),
        "POST {}/batches",
    ),
    "a stored response": (lambda c: c.responses.retrieve("resp_1"), "GET {}/responses/resp_1"),
    "a copy of the client": (lambda c: c.copy(timeout=1).embeddings.create(model="m", input="x"), "POST {}/embeddings"),
    "a plain post": (lambda c: c._client.post("assistants", json={}), "POST {}/assistants"),
}


@pytest.mark.parametrize("capture", [False, True])
@pytest.mark.parametrize("what", REQUESTS)
def test_a_request_that_no_record_can_answer_is_refused_by_name(
    tmp_path: Path, server: Loopback, client: openai.OpenAI, what: str, capture: bool
) -> None:
    request, named = REQUESTS[what]
    trace, _ = record(tmp_path / "t.jsonl", client, "go")
    with pytest.raises(runtape.ReplayDiverged) as stopped, runtape.replay(trace, capture=capture) as replayed:
        if not capture:
            replayed.wrap(client)
        ask(client)
        request(client)
    assert str(stopped.value).startswith(f"{named.format(server.url)}: it is no model call")
    assert [sent.path for sent in server.requests] == [CHAT]


def test_it_is_sent_and_told_once_where_the_replay_may_go_live_and_the_record_goes_on(
    tmp_path: Path, server: Loopback, client: openai.OpenAI, capsys: pytest.CaptureFixture[str]
) -> None:
    trace, said = record(tmp_path / "t.jsonl", client, "a", "b")
    with runtape.replay(trace, on_diverge="live") as replayed:
        replayed.wrap(client)
        first = ask(client, "a")
        for _ in range(2):
            client.embeddings.create(model="m", input="x", encoding_format="float")
        assert [first, ask(client, "b")] == said
    assert replayed.divergence is None
    assert [request.path for request in server.requests] == [CHAT, CHAT, "/v1/embeddings", "/v1/embeddings"]
    assert capsys.readouterr().err.count("/v1/embeddings is no model call") == 1


def test_another_clients_call_that_is_not_in_the_record_is_refused(
    tmp_path: Path, server: Loopback, client: openai.OpenAI
) -> None:
    trace, _ = record(tmp_path / "t.jsonl", client, "go")
    with pytest.raises(runtape.ReplayDiverged, match="not one that the replay was given"), runtape.replay(trace):
        ask(client, "something else")
    assert len(server.requests) == 1


def test_in_a_replay_of_the_process_only_what_stays_in_it_or_only_reads_goes_on(
    tmp_path: Path, server: Loopback, client: openai.OpenAI
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": ask(client).encode()})

    async def through_the_app() -> str:
        made: Any = httpx2.AsyncClient(transport=httpx2.ASGITransport(app))
        async with made as http:
            answered: Any = await http.post("http://app/chat", json={})
            return str(answered.text)

    trace, said = record(tmp_path / "t.jsonl", client, "go")
    with pytest.raises(runtape.ReplayDiverged) as stopped, runtape.replay(trace, capture=True):
        assert [asyncio.run(through_the_app())] == said
        assert httpx2.get(f"{server.root}/prices").status_code == 200
        httpx2.post(f"{server.root}/refunds?key=secret", json={"order": 7})
    assert str(stopped.value).startswith(f"POST {server.root}/refunds: it is no model call")
    assert [request.path for request in server.requests] == [CHAT, "/prices"]


@pytest.mark.parametrize("content", [b"no JSON", b"[1]", iter([b'{"messages": []}'])], ids=["text", "list", "stream"])
def test_a_model_call_that_cannot_be_read_is_refused(
    tmp_path: Path, server: Loopback, client: openai.OpenAI, content: Any
) -> None:
    trace, _ = record(tmp_path / "t.jsonl", client, "go")
    with pytest.raises(runtape.ReplayDiverged, match=r"body (cannot be read|is no JSON)"), runtape.replay(trace):
        httpx2.post(f"{server.root}{CHAT}", content=content)
    assert len(server.requests) == 1


@pytest.mark.parametrize("order", ["record outside", "replay outside"])
@pytest.mark.parametrize("wrapped", ["recording first", "replay first"])
def test_a_replay_that_is_recorded_is_recorded_once(
    tmp_path: Path, server: Loopback, client: openai.OpenAI, order: str, wrapped: str
) -> None:
    trace, said = record(tmp_path / "t.jsonl", client, "a", "b")

    def use(rec: runtape.Recorder, replayed: Any) -> None:
        for one in (rec, replayed) if wrapped == "recording first" else (replayed, rec):
            one.wrap(client)
        assert [ask(client, "a"), ask(client, "b")] == said

    if order == "record outside":
        with runtape.record(tmp_path / "again.jsonl") as rec, runtape.replay(trace) as replayed:
            use(rec, replayed)
    else:
        with runtape.replay(trace) as replayed, runtape.record(tmp_path / "again.jsonl") as rec:
            use(rec, replayed)
    assert len(server.requests) == 2
    first, again = runtape.load(trace), runtape.load(rec.path)
    assert [again.request(call.request).body for call in again.calls] == [
        first.request(call.request).body for call in first.calls
    ]
    assert [call.response.payload["raw"] for call in again.calls if call.response] == [
        call.response.payload["raw"] for call in first.calls if call.response
    ]


def test_two_replays_at_once_each_answer_the_client_that_they_were_given(tmp_path: Path, server: Loopback) -> None:
    with (
        openai.OpenAI(base_url=server.url, api_key="k") as one,
        openai.OpenAI(base_url=server.url, api_key="k") as other,
    ):
        traces = [record(tmp_path / f"{at}.jsonl", client, "go")[0] for at, client in enumerate((one, other))]
        with runtape.replay(traces[0]) as first, runtape.replay(traces[1]) as second:
            first.wrap(one)
            second.wrap(other)
            assert [ask(other), ask(one)] == ["go, said 1", "go, said 0"]
    assert len(server.requests) == 2


def test_two_replays_in_two_threads_do_not_mix(tmp_path: Path, server: Loopback, client: openai.OpenAI) -> None:
    found = [record(tmp_path / f"{at}.jsonl", client, *["go"] * 5) for at in range(2)]
    together = threading.Barrier(2)
    seen: dict[Path, list[str]] = {}

    def agent(trace: Path) -> None:
        with runtape.replay(trace) as replayed:
            together.wait(20)
            seen[trace] = [ask(client) for _ in range(5)]
            assert replayed.left == []
            together.wait(20)

    threads = [threading.Thread(target=agent, args=(trace,)) for trace, _ in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == dict(found)
    assert len(server.requests) == 10


def test_a_task_that_outlives_its_replay_calls_nobody(
    tmp_path: Path, server: Loopback, client: openai.OpenAI, capsys: pytest.CaptureFixture[str]
) -> None:
    trace, _ = record(tmp_path / "t.jsonl", client, "go", "go")
    ran: list[str] = []

    def refund() -> None:
        ran.append("refund")

    async def straggler(over: asyncio.Event, tool: Any, act: Callable[[], Any]) -> BaseException | None:
        await over.wait()
        try:
            act()
        except BaseException as error:  # noqa: BLE001 -- what stops an agent is no Exception
            return error
        return None

    async def main(tool: Any) -> list[BaseException | None]:
        over = asyncio.Event()
        with runtape.replay(trace, capture=True):
            ask(client)
            tasks = [asyncio.create_task(straggler(over, tool, act)) for act in (lambda: ask(client), tool)]
            await asyncio.sleep(0)
        over.set()
        stopped = await asyncio.gather(*tasks)
        ask(client, "after the replay")  # this task has left it
        return stopped

    with runtape.record(tmp_path / "again.jsonl") as rec:
        stopped = asyncio.run(main(rec.tool(refund)))
    assert None not in stopped
    assert ran == []
    assert len(server.requests) == 3
    assert "after the replay" in capsys.readouterr().err
    assert not hasattr(httpx2.Client.send, "__wrapped__")


def test_methods_of_the_libraries_are_their_own_again_after_a_replay(tmp_path: Path, client: openai.OpenAI) -> None:
    def methods() -> list[Any]:
        owners = (httpx2.Client, httpx2.AsyncClient, httpx2.HTTPTransport, httpx2.AsyncHTTPTransport)
        return [value for owner in owners for name, value in vars(owner).items() if "send" in name or "handle" in name]

    own = methods()
    trace, _ = record(tmp_path / "t.jsonl", client, "go")
    with runtape.replay(trace) as replayed:
        ask(replayed.wrap(client))
        assert methods() != own
    assert methods() == own


def test_replays_that_do_not_end_in_order_leave_nothing_behind(tmp_path: Path, client: openai.OpenAI) -> None:
    before = dict(os.environ), httpx2.Client.send
    trace, _ = record(tmp_path / "t.jsonl", client, "go")
    first, second = runtape.replay(trace), runtape.replay(trace)
    for replayed in (first, second):
        replayed.__enter__()
    first.close()
    assert ask(client) == "go, said 0"
    second.close()
    assert (dict(os.environ), httpx2.Client.send) == before
    assert ask(client) == "go, said 1"


def test_claude_counting_tokens_is_refused_by_name(tmp_path: Path, server: Loopback, client: openai.OpenAI) -> None:
    trace, _ = record(tmp_path / "t.jsonl", client, "go")
    with (
        anthropic.Anthropic(base_url=server.root, api_key="k", max_retries=0) as claude,
        pytest.raises(runtape.ReplayDiverged, match=r"POST .*/v1/messages/count_tokens: it is no model call"),
        runtape.replay(trace) as replayed,
    ):
        replayed.wrap(claude).messages.count_tokens(model="m", messages=[{"role": "user", "content": "x"}])
    assert len(server.requests) == 1


def test_a_wrapped_session_of_another_library_sends_nothing_and_others_of_its_class_go_on(
    tmp_path: Path, client: openai.OpenAI
) -> None:
    class Session:
        def send(self, request: Any) -> str:
            return "sent"

    trace, _ = record(tmp_path / "t.jsonl", client, "go")
    wrapped: Any = Session()
    with pytest.raises(runtape.ReplayDiverged, match="to which no response can be made"), runtape.replay(trace) as rep:
        rep.wrap(wrapped)
        assert Session().send(object()) == "sent"
        wrapped.send(object())
    assert wrapped.send(object()) == "sent"
