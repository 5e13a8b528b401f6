"""Whatever goes wrong in the recorder or around it, the program sees what it would have seen, and the loss is told."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, Loopback
from openai import OpenAI
from provider import CHAT, answer, bodies, events, the_reply
from rebuilt_requests import expand
from sdk_http import library as httpx2

from runtape.record import record
from runtape.trace.reader import read

SECRET = "sk-proj-4f9aZ0b1c2d3e4f5a6b7c8d9"


def full_disk(monkeypatch: pytest.MonkeyPatch, refused: range) -> None:
    """Make some of the writes to trace files fail, by their number from now on."""
    count = iter(range(10**9))
    real = os.write

    def write(descriptor: int, data: bytes) -> int:
        if next(count) in refused:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", write)


def test_a_full_disk_costs_events_that_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with record(tmp_path / "t.jsonl") as rec:

        @rec.tool
        def step(x: int) -> int:
            return 2 * x

        full_disk(monkeypatch, range(5, 50))
        assert [step(x) for x in range(40)] == [2 * x for x in range(40)]
    found = events(rec.path)
    (gap,) = (event for event in found if event.type == "gap")
    written = [event for event in found if event.type in ("tool_call", "tool_result")]
    assert int(str(gap.payload["lost"])) + len(written) == 80
    assert capsys.readouterr().err.count("\n") == 1


def test_a_result_that_cannot_be_written_still_reaches_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        Loopback(answer) as server,
        record(tmp_path / "t.jsonl") as rec,
        OpenAI(base_url=server.url, api_key="k") as client,
    ):
        rec.wrap(client)
        done: list[int] = []

        @rec.tool
        def pay(amount: int) -> str:
            done.append(amount)
            return "paid"

        full_disk(monkeypatch, range(1, 100))
        assert pay(7) == "paid"
        assert client.chat.completions.create(model="m", messages=[]).id == "chatcmpl-1"
    assert done == [7]


def test_a_request_that_was_lost_is_no_base_of_a_later_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        Loopback(answer) as server,
        record(tmp_path / "t.jsonl") as rec,
        OpenAI(base_url=server.url, api_key="k") as client,
    ):
        rec.wrap(client)
        turns: list[Any] = [{"role": "system", "content": "S"}]
        full_disk(monkeypatch, range(2, 4))
        for number in range(4):
            turns.append({"role": "user", "content": str(number)})
            client.chat.completions.create(
                model="m", messages=turns, tools=[{"type": "function", "function": {"name": str(number > 0)}}]
            )
        sent = [request.body for request in server.requests]
    found = bodies(rec.path)
    assert len(found) == 3
    assert found == [sent[0], *sent[2:]]


@pytest.mark.parametrize(
    "make", [lambda path: path.mkdir(), lambda path: path.symlink_to("/dev/full")], ids=["folder", "device"]
)
def test_a_path_that_cannot_be_written_turns_recording_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], make: Callable[[Path], None]
) -> None:
    path = tmp_path / "t.jsonl"
    make(path)
    with pytest.raises(OSError):
        record(path, strict=True)
    capsys.readouterr()
    with record(path) as rec:
        rec.note("x")
        assert rec.tool(len) is len
    assert capsys.readouterr().err.count("\n") == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.jsonl"]


def test_keys_and_headers_are_never_recorded(tmp_path: Path) -> None:
    with Loopback(answer) as server, record(tmp_path / "t.jsonl") as rec:
        url = f"http://me:{SECRET}@{server.url.removeprefix('http://')}"
        client = OpenAI(
            base_url=url, api_key=SECRET, default_headers={"x-internal": "canary-1"}, default_query={"key": SECRET}
        )
        rec.wrap(client)
        client.chat.completions.create(
            model="m",
            messages=[{"role": "user", "content": f"my key is {SECRET}"}],
            extra_headers={"x-other": "canary-2"},
            extra_body={"password": "canary-3"},
        )
        client.close()
        rec.note("x", api_key="canary-4", env=f"OPENAI_API_KEY={SECRET}")
        assert events(rec.path, "llm_request")[0].payload["endpoint"] == server.url
    written = rec.path.read_text(encoding="utf-8")
    for canary in (SECRET, "canary-1", "canary-2", "canary-3", "canary-4"):
        assert canary not in written


@pytest.mark.parametrize("wrong", [None, "text", {"payload": 3}, {"meta": {}}, ValueError("no")], ids=str)
def test_a_broken_redactor_drops_content_and_no_later_request_needs_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: Any
) -> None:
    def redact(event: Any) -> Any:
        requests.append(event)
        if len(requests) == 3:
            if isinstance(wrong, Exception):
                raise wrong
            return wrong
        return event

    requests: list[Any] = []
    turns: list[Any] = []
    with record(
        tmp_path / "t.jsonl", redact=lambda event: redact(event) if event["type"] == "llm_request" else event
    ) as rec:
        for number in range(6):
            turns.append({"role": "user", "content": f"canary-{number}"})
            rec.log_llm_request(provider="p", api="chat.completions", model="m", messages=turns)
    reading = read(rec.path)
    assert len(reading.problems) == 1
    found = [event for event in reading.events if event.type == "llm_request"]
    assert "dropped" in found[2].payload
    assert "canary-2" not in str(found[2])
    assert [event.payload.get("base") for event in found] == [None, 1, None, 2, 4, 5]
    kept = [expand(found, event.id).messages for event in found if event is not found[2]]
    assert kept == [turns[:length] for length in (1, 2, 4, 5, 6)]
    assert capsys.readouterr().err.count("\n") == 1


def test_a_redactor_gets_a_copy(tmp_path: Path) -> None:
    def blank(event: Any) -> Any:
        for message in event["payload"].get("messages", []) + event["payload"].get("messages_append", []):
            message["content"] = "-"
        return event

    turns: list[Any] = [{"role": "user", "content": "a"}]
    with record(tmp_path / "t.jsonl", redact=blank) as rec:
        rec.log_llm_request(provider="p", api="chat.completions", model="m", messages=turns)
        turns.append({"role": "user", "content": "b"})
        rec.log_llm_request(provider="p", api="chat.completions", model="m", messages=turns)
    assert [message["content"] for message in turns] == ["a", "b"]
    assert bodies(rec.path)[1]["messages"] == [{"role": "user", "content": "-"}] * 2


def test_recording_from_inside_the_redactor_does_not_wait_for_itself(tmp_path: Path) -> None:
    def redact(event: Any) -> Any:
        if event["type"] in ("llm_request", "state"):
            rec.note("inside", of=event["type"])
        return event

    with record(tmp_path / "t.jsonl", redact=redact) as rec:
        rec.state("k", 1)
        rec.log_llm_request(provider="p", api="chat.completions", model="m", messages=[])
    assert [event.payload["of"] for event in events(rec.path, "log")] == ["state", "llm_request"]


ODD: list[Any] = [
    None,
    "text",
    b"bytes",
    3,
    2.5,
    True,
    [],
    {},
    (),
    object(),
    ValueError("x"),
    type,
    len,
    iter(()),
    Ellipsis,
]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_an_unexpected_response_reaches_the_program_as_it_is(tmp_path: Path, odd: Any) -> None:
    class Http:
        def send(self, request: Any, *, stream: bool = False) -> Any:
            return odd

    class Client:
        def __init__(self) -> None:
            self._client = Http()

    request = httpx2.Request("POST", "http://127.0.0.1/v1/chat/completions", json={"messages": []})
    with record(tmp_path / "t.jsonl") as rec:
        client = rec.wrap(Client())
        assert client._client.send(request, stream=True) is odd
    reply = the_reply(rec.path)
    assert type(odd).__name__ in str(reply.payload["unparsed"])


@pytest.mark.parametrize(
    "body", [b"", b"not json", b"[1]", b"{}", b'{"choices": null}', b'{"choices": [7]}', b"[" * 100_000, b"\xff\xfe"]
)
def test_a_body_that_is_no_answer_is_kept_and_marked(tmp_path: Path, body: bytes) -> None:
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, content=body))
    with record(tmp_path / "t.jsonl") as rec, httpx2.Client(transport=transport) as client:
        rec.wrap(client)
        response = client.post("http://127.0.0.1/v1/chat/completions", json={"messages": []})
        assert response.content == body
    reply = the_reply(rec.path)
    assert reply.payload["unparsed"]
    assert (reply.payload["raw"] is None) == (body == b"")


@pytest.mark.parametrize("content", [b"", b"not json", b"[1]", b'"x"', b"null"])
def test_a_request_that_is_no_object_is_sent_and_noted(tmp_path: Path, content: bytes) -> None:
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, content=request.content))
    with record(tmp_path / "t.jsonl") as rec, httpx2.Client(transport=transport) as client:
        rec.wrap(client)
        assert client.post("http://127.0.0.1/v1/chat/completions", content=content).content == content
        sent = client.post("http://127.0.0.1/v1/messages", content=iter([content]))
        assert sent.content == content
    noted = events(rec.path, "log")
    assert [event.payload["path"] for event in noted] == ["/v1/chat/completions", "/v1/messages"]
    assert all(event.payload["unparsed"] for event in noted)


@pytest.mark.parametrize(
    "reply", [{"error": {"message": "no", "type": "overloaded"}}, {**CHAT, "choices": []}], ids=["error", "no choices"]
)
def test_a_success_that_holds_no_answer_is_marked(tmp_path: Path, reply: Any) -> None:
    with (
        Loopback(lambda _: Answer(reply)) as server,
        record(tmp_path / "t.jsonl") as rec,
        OpenAI(base_url=server.url, api_key="k") as client,
    ):
        rec.wrap(client)
        client.chat.completions.create(model="m", messages=[])
    found = the_reply(rec.path)
    assert found.payload["unparsed"]
    assert found.payload["raw"] == reply


def test_tool_calls_without_ids_get_marked_ones(tmp_path: Path) -> None:
    calls = [
        {"id": "", "type": "function", "function": {"name": "f", "arguments": text}} for text in ('{"x": 1}', '{"x": ')
    ]
    message = {"role": "assistant", "content": "two calls", "tool_calls": calls}
    body = {**CHAT, "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}
    with (
        Loopback(lambda _: Answer(body)) as server,
        record(tmp_path / "t.jsonl") as rec,
        OpenAI(base_url=server.url, api_key="k") as client,
    ):
        rec.wrap(client).chat.completions.create(model="m", messages=[])

        @rec.tool
        def f(x: int) -> int:
            return x

        f(2)
        f(1)
    found = the_reply(rec.path)
    assert found.payload["tool_calls"] == [
        {"id": "runtape:0", "name": "f", "arguments": {"x": 1}},
        {"id": "runtape:1", "name": "f", "arguments": '{"x": '},
    ]
    assert found.payload["raw"] == body
    assert [event.payload["call_id"] for event in events(rec.path, "tool_call")] == ["runtape:0", "runtape:1"]
