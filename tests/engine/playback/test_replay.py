"""A recorded run is played back to the agent that made it."""
# ruff: noqa: PT012 -- the end of the replay is what raises, so its whole block stands under pytest.raises

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from loopback import Answer, Loopback
from recorded_agent import answer, greeting, record, run

import runtape
from runtape.errors import BadInput
from runtape.record.clients import http_clients

NOBODY = "http://127.0.0.1:9/v1"
"""Where nobody listens: whatever is sent there fails."""


def look_up(order: str) -> str:
    return f"parcel of {order}"


def never(order: str) -> str:
    raise AssertionError(f"the tool ran for {order}")


never.__name__ = "look_up"


def client(url: str = NOBODY) -> openai.OpenAI:
    return openai.OpenAI(base_url=url, api_key="k", max_retries=0)


@pytest.mark.parametrize("stream", [False, True])
def test_a_run_is_played_back_without_model_and_tools(tmp_path: Path, stream: bool) -> None:
    trace = record(tmp_path, look_up, stream=stream)
    with client() as http, runtape.replay(trace) as replayed:
        said = run(replayed.wrap(http), replayed.tool(never), "order 7", stream=stream)
        assert replayed.left == []
    assert said == "Found parcel of order 7."
    assert replayed.divergence is None
    assert repr(replayed) == f"<Replayer of {trace.stem!r}: as recorded so far, 0 recorded calls left>"


def test_the_client_is_what_it_was_after_the_replay(tmp_path: Path) -> None:
    trace = record(tmp_path, look_up)
    with Loopback(answer) as server, client(server.url) as http:
        (inner,) = http_clients(http)
        before = dict(inner.__dict__)
        with runtape.replay(trace) as replayed:
            replayed.wrap(replayed.wrap(http))
            run(http, replayed.tool(never), "order 7")
        assert inner.__dict__ == before
        run(http, look_up, "order 8")
        assert len(server.requests) == 2


def test_another_question_stops_at_the_first_call_and_shows_the_difference(tmp_path: Path) -> None:
    trace = record(tmp_path, look_up)
    with (
        client() as http,
        pytest.raises(runtape.ReplayDiverged) as stopped,
        runtape.replay(trace) as replayed,
    ):
        run(replayed.wrap(http), replayed.tool(never), "order 8")
    said = str(stopped.value)
    assert "model call 1" in said
    assert "nearest recorded: event 1" in said
    assert "messages[0].content" in said
    assert "order 7" in said
    assert "order 8" in said


def test_an_agent_that_catches_every_exception_is_stopped_all_the_same(tmp_path: Path) -> None:
    trace = record(tmp_path, look_up)
    calls: list[int] = []

    def stubborn(http: openai.OpenAI, tool: Any) -> None:
        for attempt in range(3):
            calls.append(attempt)
            try:
                run(http, tool, "order 8")
            except Exception:  # noqa: BLE001
                continue

    with (
        openai.OpenAI(base_url=NOBODY, api_key="k") as http,
        pytest.raises(runtape.ReplayDiverged),
        runtape.replay(trace) as replayed,
    ):
        stubborn(replayed.wrap(http), replayed.tool(never))
    assert calls == [0]


def test_a_tool_called_with_other_arguments_is_a_divergence(tmp_path: Path) -> None:
    trace = record(tmp_path, look_up)
    with (
        pytest.raises(runtape.ReplayDiverged, match="tool call of look_up") as stopped,
        runtape.replay(trace) as replayed,
    ):
        replayed.tool(never)("order 9")
    assert "recorded: …order 7" in str(stopped.value) or "recorded: order 7" in str(stopped.value)


def test_live_goes_on_with_the_real_model_and_tools_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = record(tmp_path, look_up)
    with Loopback(answer) as server, client(server.url) as http:
        with runtape.replay(trace, on_diverge="live") as replayed:
            said = run(replayed.wrap(http), replayed.tool(look_up), "order 8")
        assert said == "Found parcel of order 8."
        assert len(server.requests) == 2
    assert replayed.divergence is not None
    assert "goes live" in capsys.readouterr().err


def test_a_call_more_than_recorded_is_a_divergence(tmp_path: Path) -> None:
    trace = record(tmp_path, look_up)
    with (
        client() as http,
        pytest.raises(runtape.ReplayDiverged, match="all 2 recorded model calls"),
        runtape.replay(trace) as replayed,
    ):
        run(replayed.wrap(http), replayed.tool(never), "order 7")
        http.chat.completions.create(model="m", messages=[{"role": "user", "content": "more"}])


def test_what_the_agent_did_not_do_again_is_listed(tmp_path: Path) -> None:
    trace = record(tmp_path, look_up)
    with runtape.replay(trace) as replayed:
        events = {event.type for event in runtape.load(trace).events if event.id in replayed.left}
    assert events == {"llm_request", "tool_call"}


def test_secrets_taken_out_of_the_record_are_no_difference(tmp_path: Path) -> None:
    question = "order 7 with sk-abcdefghijklmnopqrstuvwxyz0123456789"
    trace = record(tmp_path, lambda order: f"parcel of {order}", question)
    assert "sk-abc" not in trace.read_text(encoding="utf-8")
    with client() as http, runtape.replay(trace) as replayed:
        run(replayed.wrap(http), replayed.tool(never, name="<lambda>"), question)


@pytest.mark.parametrize("api", ["responses", "messages"])
@pytest.mark.parametrize("stream", [False, True])
def test_every_api_is_played_back(tmp_path: Path, api: str, stream: bool) -> None:
    def ask(url: str, wrap: Any) -> Any:
        if api == "messages":
            with anthropic.Anthropic(base_url=url.removesuffix("/v1"), api_key="k", max_retries=0) as anthropic_sdk:
                sdk: Any = wrap(anthropic_sdk)
                given: Any = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
                if not stream:
                    return sdk.messages.create(**given).content
                with sdk.messages.stream(**given) as events:
                    return events.get_final_message().content
        with client(url) as openai_sdk:
            sdk = wrap(openai_sdk)
            if not stream:
                return sdk.responses.create(model="m", input="hi").output_text
            with sdk.responses.stream(model="m", input="hi") as events:
                return events.get_final_response().output_text

    with Loopback(greeting) as server, runtape.record(tmp_path / "run.jsonl") as recorder:
        first = ask(server.url, recorder.wrap)
    with runtape.replay(recorder.path) as replayed:
        assert ask(NOBODY, replayed.wrap) == first


def test_parallel_async_calls_get_their_own_answers_in_any_order(tmp_path: Path) -> None:
    questions = [f"order {number}" for number in range(8)]

    async def ask(http: openai.AsyncOpenAI, question: str) -> str:
        reply = await http.chat.completions.create(model="m", messages=[{"role": "user", "content": question}])
        return reply.choices[0].message.tool_calls[0].function.arguments  # type: ignore[index,union-attr,return-value]

    async def ask_all(url: str, wrap: Any, order: list[str]) -> dict[str, str]:
        async with openai.AsyncOpenAI(base_url=url, api_key="k", max_retries=0) as http:
            wrap(http)
            return dict(zip(order, await asyncio.gather(*(ask(http, question) for question in order)), strict=True))

    with Loopback(answer) as server, runtape.record(tmp_path / "run.jsonl") as recorder:
        first = asyncio.run(ask_all(server.url, recorder.wrap, questions))
    with runtape.replay(recorder.path) as replayed:
        assert asyncio.run(ask_all(NOBODY, replayed.wrap, questions[::-1])) == first


def test_a_divergence_in_a_thread_ends_the_block(tmp_path: Path) -> None:
    trace = record(tmp_path, look_up)
    with client() as http, pytest.raises(runtape.ReplayDiverged), runtape.replay(trace) as replayed:
        replayed.wrap(http)

        def work() -> None:
            with pytest.raises(BaseException):  # noqa: B017 -- what ends the agent is no Exception
                run(http, never, "order 8")

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()


@pytest.mark.parametrize(
    ("status", "error"),
    [(400, openai.BadRequestError), (429, openai.RateLimitError), (500, openai.InternalServerError)],
)
def test_an_error_reply_is_the_same_error_at_once(tmp_path: Path, status: int, error: type[Exception]) -> None:
    def ask(http: openai.OpenAI) -> None:
        with pytest.raises(error, match="no luck"):
            http.chat.completions.create(model="m", messages=[])

    refusal = Answer({"error": {"message": "no luck", "type": "t"}}, status=status)
    with (
        Loopback(lambda _: refusal) as server,
        runtape.record(tmp_path / "run.jsonl") as recorder,
        client(server.url) as http,
    ):
        ask(recorder.wrap(http))
    with openai.OpenAI(base_url=NOBODY, api_key="k", max_retries=5) as http, runtape.replay(recorder.path) as replayed:
        ask(replayed.wrap(http))


def test_a_connection_that_failed_fails_again(tmp_path: Path) -> None:
    with runtape.record(tmp_path / "run.jsonl") as recorder, client() as http, pytest.raises(openai.APIConnectionError):
        recorder.wrap(http).chat.completions.create(model="m", messages=[])
    with (
        Loopback(answer) as server,
        runtape.replay(recorder.path) as replayed,
        client(server.url) as http,
        pytest.raises(openai.APIConnectionError),
    ):
        replayed.wrap(http).chat.completions.create(model="m", messages=[])
    assert server.requests == []


def test_capture_plays_to_clients_that_nobody_wrapped(tmp_path: Path) -> None:
    trace = record(tmp_path, look_up)
    with runtape.replay(trace, capture=True) as replayed, client() as http:
        assert run(http, replayed.tool(never), "order 7") == "Found parcel of order 7."


def test_a_client_without_http_is_refused_rather_than_left_to_call(tmp_path: Path) -> None:
    with runtape.replay(record(tmp_path, look_up)) as replayed, pytest.raises(BadInput, match="holds no httpx client"):
        replayed.wrap(object())


@dataclass
class Parcel:
    order: str
    price: Decimal
    sent: date


class Lost(Exception):
    pass


def test_results_come_back_as_the_types_that_the_tool_declares(tmp_path: Path) -> None:
    def parcel(order: str) -> Parcel:
        return Parcel(order, Decimal("1.10"), date(2026, 11, 1))

    def picture() -> bytes:
        return b"\x00\xff"

    def names() -> set[str]:
        return {"b", "a"}

    def wrongly_declared() -> int:
        return "5"  # type: ignore[return-value]

    def undeclared():  # type: ignore[no-untyped-def]
        return {"at": b"\x01", "score": float("inf")}

    tools: list[Any] = [picture, names, wrongly_declared, undeclared]
    with runtape.record(tmp_path / "run.jsonl") as recorder:
        given = [recorder.tool(parcel)("7"), *(recorder.tool(tool)() for tool in tools)]
    with runtape.replay(recorder.path) as replayed:
        assert [replayed.tool(parcel)("7"), *(replayed.tool(tool)() for tool in tools)] == given


def test_errors_come_back_as_what_the_tool_raised(tmp_path: Path) -> None:
    def fails(kind: str) -> None:
        raise {"key": KeyError("k"), "own": Lost("gone"), "value": ValueError("v")}[kind]

    kinds = ["key", "own", "value"]
    with runtape.record(tmp_path / "run.jsonl") as recorder:
        for kind in kinds:
            with pytest.raises(Exception):  # noqa: B017
                recorder.tool(fails)(kind)
    with runtape.replay(recorder.path) as replayed:
        found: list[str] = []
        for kind in kinds:
            with pytest.raises(Exception) as raised:
                replayed.tool(fails)(kind)
            found.append(repr(raised.value))
    assert found == [repr(KeyError("k")), repr(Lost("gone")), repr(ValueError("v"))]


def test_async_and_generator_tools_stay_what_they_are(tmp_path: Path) -> None:
    async def fetch(url: str) -> str:
        return f"page of {url}"

    def count(to: int) -> Any:
        yield from range(to)
        return "done"

    async def stream(to: int) -> Any:
        for number in range(to):
            yield number

    async def use(tools: Any) -> list[Any]:
        fetched = await tools(fetch)("u")
        counted = list(tools(count)(3))
        streamed = [item async for item in tools(stream)(2)]
        return [fetched, counted, streamed]

    with runtape.record(tmp_path / "run.jsonl") as recorder:
        first = asyncio.run(use(recorder.tool))
    with runtape.replay(recorder.path) as replayed:
        assert asyncio.run(use(replayed.tool)) == first
