from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from loopback import Answer, Loopback, Received, chat_reply
from sampling import PATIENCE, ask, chat

from runtape.errors import BudgetSpent, ModelFailed
from runtape.sample import attempts
from runtape.sample.budget import Budget
from runtape.sample.cache import ReplyCache
from runtape.sample.endpoint import Endpoint
from runtape.sample.http_models import HttpModel
from runtape.sample.model import Answer as Sample
from runtape.sample.model import RequestRefused
from runtape.sample.resolve import resolve
from runtape.sample.sampler import Sampler
from runtape.wire.values import Request

pytestmark = pytest.mark.anyio

AT_ONCE = {"retry-after-ms": "1"}
"""Keeps the SDKs from waiting half a second before they retry."""

CLAUDE_REPLY = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "content": [{"type": "text", "text": "hi"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 3, "output_tokens": 1},
}
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "model": "m",
    "output": [
        {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]},
    ],
    "usage": {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4},
}


def error(message: str, *, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "some_error", "code": code, "param": param}}


def endpoint(url: str, key: str | None = "sk-secret", *, named: bool = True) -> Endpoint:
    return Endpoint(url, key, "OPENAI_API_KEY", named)


@asynccontextmanager
async def opened(
    server: Loopback, api: str = "chat.completions", *, key: str | None = "sk-secret", deadline: float = PATIENCE
) -> AsyncGenerator[HttpModel]:
    model = HttpModel(api, endpoint(server.url, key), deadline=deadline)
    try:
        yield model
    finally:
        await model.aclose()


@asynccontextmanager
async def sampling(
    script: Callable[[Received], Answer], *, budget: int | None = None, concurrency: int = 16, latency: float = 0.0
) -> AsyncGenerator[tuple[Sampler, Loopback]]:
    with Loopback(script, latency=latency) as server, ReplyCache(None) as cache:
        async with opened(server) as model:
            yield Sampler(model, cache, Budget(budget), concurrency=concurrency, job="why"), server


def hi(_: Received) -> Answer:
    return Answer(chat_reply("hi"))


def honours_n(received: Received) -> Answer:
    return Answer(chat_reply("hi", n=received.body.get("n", 1)))


@dataclass
class Listening:
    samples: tuple[str, ...]
    start: Callable[[], Awaitable[None]]
    rejected: Callable[[int, float | None], None]
    note: Callable[[str], None]


# What is sent.


async def test_the_recorded_body_is_sent_as_it_was_without_what_belongs_to_the_transport() -> None:
    odd: dict[str, Any] = {"top_k": 3, "big": 2**70, "user": "h\u00e9 \U0001f600"}
    transport: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}, "seed": 1}
    with Loopback(hi) as server:
        async with opened(server) as model:
            [answer] = await model.sample(chat("go", **odd, **transport), 1)
    sent = server.requests[0]
    assert sent.path == "/v1/chat/completions"
    assert sent.body == {"model": "m", "messages": [{"role": "user", "content": "go"}], **odd}
    assert answer.reply is not None
    assert answer.reply.text == "hi"


@pytest.mark.parametrize("after", ["", "/v1"])
async def test_anthropic_messages_go_through_its_own_sdk(after: str) -> None:
    body: dict[str, Any] = {"model": "claude", "max_tokens": 9, "messages": [{"role": "user", "content": "go"}]}
    with Loopback(lambda _: Answer(CLAUDE_REPLY)) as server:
        model = HttpModel("messages", Endpoint(server.root + after, "sk-ant", "ANTHROPIC_API_KEY", named=True))
        answers = await model.sample(Request("anthropic", "messages", None, body), 5)
        await model.aclose()
    assert [answer.reply.text for answer in answers if answer.reply] == ["hi"]
    assert model.max_n == 1
    [sent] = server.requests
    assert (sent.path, sent.body) == ("/v1/messages", body)
    assert "anthropic-version" in sent.headers
    assert "sk-ant" in (sent.headers.get("x-api-key", "") + sent.headers.get("authorization", ""))


async def test_openai_responses_are_sent_to_their_own_path() -> None:
    body: dict[str, Any] = {"model": "m", "input": "go"}
    with Loopback(lambda _: Answer(RESPONSE)) as server:
        async with opened(server, "responses") as model:
            answers = await model.sample(Request("openai", "responses", None, body), 5)
    assert [answer.reply.text for answer in answers if answer.reply] == ["hi"]
    assert (server.requests[0].path, server.requests[0].body) == ("/v1/responses", body)


async def test_a_server_without_a_key_gets_nothing_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_ADMIN_KEY",
        "OPENAI_ORG_ID",
        "OPENAI_PROJECT_ID",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
    ):
        monkeypatch.setenv(name, "canary")
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, "X-Gateway-Token: canary\nAuthorization: Bearer canary")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    with Loopback(lambda received: Answer(CLAUDE_REPLY if "messages" in received.path else chat_reply("hi"))) as server:
        for api, provider in (("chat.completions", "openai"), ("messages", "anthropic")):
            request = Request(provider, api, server.url, {"model": "m", "messages": []})
            model = resolve(request)
            assert (await model.sample(request, 1))[0].reply is not None
            await model.aclose()
    assert len(server.requests) == 2
    for received in server.requests:
        assert "canary" not in str(received.headers)


@pytest.mark.parametrize("api", ["chat.completions", "messages"])
async def test_what_stands_in_an_address_goes_with_every_request(api: str) -> None:
    with Loopback(lambda received: Answer(CLAUDE_REPLY if "messages" in received.path else chat_reply("hi"))) as server:
        url = server.url.replace("//", "//user:pass@") + "/?version=2&key=a%20b#part"
        model = HttpModel(api, endpoint(url))
        [answer] = await model.sample(Request("p", api, None, {"model": "m", "messages": []}), 1)
        await model.aclose()
    assert answer.reply is not None
    [sent] = server.requests
    path, _, query = sent.path.partition("?")
    assert path in ("/v1/chat/completions", "/v1/messages")
    assert query.replace("%20", "+") == "version=2&key=a+b"
    assert sent.headers["authorization"].startswith("Basic ")


@pytest.mark.parametrize("api", ["chat.completions", "messages"])
@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/\0",
        "http://999.1.1.1/v1",
        "http://[v1.x]/v1",
        "http://\ud800/v1",
        "http://h/" + "x" * 70_000,
    ],
)
async def test_an_address_that_no_client_takes_is_one_plain_error(api: str, url: str) -> None:
    model = HttpModel(api, endpoint(url))
    with pytest.raises(ModelFailed, match=r"cannot be asked: .* pass base_url="):
        await model.sample(Request("p", api, None, {"model": "m", "messages": []}), 1)


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
async def test_redirects_are_not_followed(status: int) -> None:
    with Loopback(hi) as elsewhere:
        moved = {"location": elsewhere.url + "/chat/completions", "x-should-retry": "true"}
        async with sampling(lambda _: Answer({}, status, moved)) as (
            sampler,
            server,
        ):
            with pytest.raises(ModelFailed, match="Redirects are not followed"):
                await sampler.draw([ask(n=5)])
    assert len(server.requests) == 1
    assert elsewhere.requests == []


def test_a_model_that_is_never_asked_imports_no_sdk() -> None:
    code = (
        "import sys, os; os.environ['OPENAI_API_KEY'] = 'k'\n"
        "from runtape.sample import sampler, oracle, drive, resolve\n"
        "from runtape.wire.values import Request\n"
        "resolve.resolve(Request('openai', 'chat.completions', None, {}))\n"
        "print([name for name in ('openai', 'anthropic', 'httpx2', 'numpy', 'scipy', 'mcp') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"


# What comes back.


async def test_n_samples_are_one_request_where_the_server_honours_n() -> None:
    async with sampling(honours_n) as (sampler, server):
        [drawn] = await sampler.draw([ask(n=7)])
    assert len(drawn.answers) == 7
    assert [received.body.get("n") for received in server.requests] == [7]
    raw = drawn.answers[3].raw
    assert isinstance(raw, dict)
    assert isinstance(raw["choices"], list)
    assert len(raw["choices"]) == 1


async def test_a_server_that_ignores_n_is_asked_one_by_one_from_then_on() -> None:
    async with sampling(hi, budget=9) as (sampler, server):
        [drawn] = await sampler.draw([ask("a", 5)])
        await sampler.draw([ask("b", 4)])
    assert len(drawn.answers) == 5
    assert [received.body.get("n") for received in server.requests] == [5] + [None] * 8


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (error("'n' : number must be at most 1"), 400),
        (error("This parameter is not supported", param="n"), 400),
        (error("Only one completion choice is allowed"), 400),
        (error("This model does not support multiple completions"), 400),
        (error("number of choices must be 1"), 422),
        (error("best_of must be 1 when using greedy sampling"), 400),
        (error("Invalid argument: candidate_count"), 400),
        (error("Extra inputs are not permitted"), 422),
        ({"detail": [{"loc": ["body", "n"], "msg": "extra fields not permitted"}]}, 422),
        ({"detail": "multiple generations unsupported"}, 400),
    ],
)
async def test_a_server_that_refuses_n_is_asked_one_by_one_from_then_on(said: Any, status: int) -> None:
    def script(received: Received) -> Answer:
        return Answer(said, status) if "n" in received.body else hi(received)

    async with sampling(script) as (sampler, server):
        [drawn] = await sampler.draw([ask(n=4)])
        await sampler.draw([ask("b", 3)])
    assert len(drawn.answers) == 4
    assert [received.body.get("n") for received in server.requests] == [4] + [None] * 7


@pytest.mark.parametrize(
    ("said", "requests"),
    [
        (error("maximum context length is 4096 tokens (9 in the messages, 4090 in the completion)"), 1),
        (error("Invalid value", param="messages"), 1),
        (error("messages.0: Extra inputs are not permitted"), 1),
        (error("unsupported parameter"), 2),
    ],
)
async def test_another_refusal_of_a_request_for_n_is_no_reason_to_fall_back(said: Any, requests: int) -> None:
    def script(received: Received) -> Answer:
        return honours_n(received) if received.body["messages"][0]["content"] == "b" else Answer(said, 400)

    async with sampling(script) as (sampler, server):
        [drawn] = await sampler.draw([ask("a", n=4)])
        assert drawn.broken is not None
        assert said["error"]["message"] in drawn.broken
        assert len(server.requests) == requests
        await sampler.draw([ask("b", n=4)])
    assert server.requests[-1].body["n"] == 4


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"id": "x", "choices": [', "not JSON"),
        (error("overloaded"), "sent no answer"),
        ({"id": "x", "choices": []}, "sent no answer"),
        ({"id": "x", "choices": [{"index": 0, "message": None, "finish_reason": "stop"}]}, "sent no answer"),
        (b"<html>gateway</html>", "not JSON"),
        ([], "sent no answer"),
    ],
)
async def test_a_broken_answer_is_no_answer(body: Any, said: str) -> None:
    with Loopback(lambda _: Answer(body)) as server:
        async with opened(server) as model:
            [answer] = await model.sample(chat(), 1)
    assert answer.reply is None
    assert answer.error is not None
    assert said in answer.error


async def test_one_broken_choice_spoils_no_other() -> None:
    def script(received: Received) -> Answer:
        body = chat_reply("hi", n=3)
        body["choices"][1]["message"] = None
        return Answer(body)

    with Loopback(script) as server:
        async with opened(server) as model:
            answers = await model.sample(chat(), 3)
    assert [answer.reply is not None for answer in answers] == [True, False, True]


async def test_an_answer_that_comes_twice_is_one_sample_with_a_note() -> None:
    def gateway(received: Received) -> Answer:
        return Answer({**chat_reply("hi"), "id": f"chatcmpl-B7xQ2mP9sK4vT1wZ{received.body['messages'][0]['content']}"})

    async with sampling(gateway) as (sampler, server):
        [drawn] = await sampler.draw([ask(n=4)])
    assert sum(answer.reply is not None for answer in drawn.answers) == 1
    assert len(server.requests) == 4 + 3, "a few tries, no more"
    assert any("repeats stored replies" in note for note in sampler.notes)


@pytest.mark.parametrize(
    "header",
    [
        {"x-cache": "HIT"},
        {"cf-aig-cache-status": "HIT"},
        {"helicone-cache": "HIT"},
        {"x-portkey-cache-status": "SEMANTIC HIT"},
        {"cache-status": "gateway; hit; ttl=3"},
        {"x-litellm-cache-key": "5e0f"},
    ],
)
async def test_an_answer_that_a_gateway_had_stored_is_no_sample(header: dict[str, str]) -> None:
    def gateway(received: Received) -> Answer:
        return Answer(chat_reply("hi"), headers=header if received.index > 1 else {"x-cache": "MISS"})

    async with sampling(gateway) as (sampler, _):
        [drawn] = await sampler.draw([ask(n=4)])
    assert sum(answer.reply is not None for answer in drawn.answers) == 2
    assert any("repeats stored replies" in note for note in sampler.notes)


async def test_a_hit_in_the_cache_of_prompts_is_a_sample() -> None:
    async with sampling(lambda _: Answer(chat_reply("hi"), headers={"x-prompt-cache": "hit"})) as (sampler, _):
        [drawn] = await sampler.draw([ask(n=4)])
    assert sum(answer.reply is not None for answer in drawn.answers) == 4


async def test_a_reply_to_a_similar_request_that_comes_again_is_no_sample() -> None:
    def gateway(received: Received) -> Answer:
        return Answer({**chat_reply("hi"), "id": f"chatcmpl-B7xQ2mP9sK4vT1wZ{min(received.index, 1)}"})

    async with sampling(gateway) as (sampler, _):
        a, b = await sampler.draw([ask("a"), ask("b")])
        [c] = await sampler.draw([ask("c")])
    assert [one.answers[0].reply is not None for one in (a, b, c)] == [True, True, False]


async def test_a_reply_that_an_earlier_run_kept_is_no_new_sample(tmp_path: Path) -> None:
    def gateway(received: Received) -> Answer:
        return Answer({**chat_reply("hi"), "id": f"chatcmpl-B7xQ2mP9sK4vT1wZ{received.index % 2}"})

    with Loopback(gateway) as server:
        for series, counted in (("pool", 2), ("pool", 2), ("slot 1", 0)):
            async with opened(server) as model:
                model.max_n = 1
                with ReplyCache(tmp_path) as cache:
                    sampler = Sampler(model, cache, Budget(None))
                    if not counted:
                        with pytest.raises(ModelFailed, match="repeats stored replies"):
                            await sampler.draw([ask(n=2, series=series)])
                    else:
                        [drawn] = await sampler.draw([ask(n=2, series=series)])
                        assert sum(answer.reply is not None for answer in drawn.answers) == counted


async def test_numbers_that_begin_anew_with_the_server_are_no_repeats(tmp_path: Path) -> None:
    def restarted(received: Received) -> Answer:
        return Answer({**chat_reply("hi"), "id": f"chatcmpl-{received.index % 2}"})

    with Loopback(restarted) as server:
        for series in ("pool", "slot 1"):
            async with opened(server) as model:
                model.max_n = 1
                with ReplyCache(tmp_path) as cache:
                    [drawn] = await Sampler(model, cache, Budget(None)).draw([ask(n=2, series=series)])
            assert sum(answer.reply is not None for answer in drawn.answers) == 2


async def test_a_constant_id_says_nothing() -> None:
    async with sampling(lambda _: Answer({**chat_reply("hi"), "id": "x"})) as (sampler, _):
        [drawn] = await sampler.draw([ask(n=4)])
    assert sum(answer.reply is not None for answer in drawn.answers) == 4
    assert sampler.notes == []


# What fails.


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (401, error("Incorrect API key provided: sk-secret"), "Check the key in OPENAI_API_KEY"),
        (403, error("Country not supported"), "Check the key in OPENAI_API_KEY"),
        (404, error("The model `m` does not exist"), "Check the model name, 'm', and the base URL"),
        (429, error("You exceeded your quota", code="insufficient_quota"), "no quota left"),
        (402, error("Insufficient credits"), "no quota left"),
        (400, error("Your credit balance is too low"), "no quota left"),
        (400, error("You have reached your specified API usage limits"), "no quota left"),
        (429, error("Your account is not active", code="billing_not_active"), "no quota left"),
        (429, error("You have reached your monthly spending limit"), "no quota left"),
        (400, error("API key not valid. Please pass a valid API key."), "Check the key in OPENAI_API_KEY"),
        (400, error("This organization has been disabled."), "Check the key in OPENAI_API_KEY"),
    ],
)
async def test_a_failure_for_good_costs_at_most_two_requests_and_names_what_to_mend(
    status: int, body: dict[str, Any], said: str
) -> None:
    headers = {"x-should-retry": "true", "retry-after-ms": "1"}
    async with sampling(lambda _: Answer(body, status, headers)) as (sampler, server):
        with pytest.raises(ModelFailed) as failure:
            await sampler.draw([ask(str(i), 5) for i in range(60)])
    assert said in str(failure.value)
    assert body["error"]["message"].replace("sk-secret", "[key]") in str(failure.value)
    assert "sk-secret" not in str(failure.value)
    assert len(server.requests) <= 2


async def test_a_local_server_that_wants_a_key_says_how_to_let_it_have_one() -> None:
    with Loopback(lambda _: Answer(error("no key"), 401)) as server:
        request = chat(endpoint=server.url)
        model = resolve(request)
        with pytest.raises(ModelFailed, match=r"--base-url.*OPENAI_API_KEY"):
            await model.sample(request, 1)
        await model.aclose()


async def test_unprocessable_requests_stop_after_the_second() -> None:
    async with sampling(lambda _: Answer(error("unknown field"), 422)) as (sampler, server):
        with pytest.raises(ModelFailed, match="unknown field"):
            await sampler.draw([ask(str(i)) for i in range(60)])
    assert len(server.requests) == 2


async def test_a_context_that_is_too_long_breaks_its_own_variant() -> None:
    def script(received: Received) -> Answer:
        if received.body["messages"][0]["content"] == "long":
            return Answer(error("context length exceeded"), 400)
        return honours_n(received)

    async with sampling(script) as (sampler, _):
        a, long, b = await sampler.draw([ask("a", 2), ask("long", 2), ask("b", 2)])
    assert (len(a.answers), len(b.answers)) == (2, 2)
    assert long.broken is not None
    assert "context length exceeded" in long.broken


async def test_a_key_revoked_in_the_middle_ends_it_and_keeps_what_came() -> None:
    def script(received: Received) -> Answer:
        return hi(received) if received.index < 20 else Answer(error("revoked"), 401)

    with Loopback(script) as server, ReplyCache(None) as cache:
        model = HttpModel("chat.completions", endpoint(server.url))
        model.max_n = 1
        sampler = Sampler(model, cache, Budget(None), concurrency=4, job="why")
        with pytest.raises(ModelFailed, match="revoked"):
            await sampler.draw([ask(str(i), 5) for i in range(60)])
        await model.aclose()
        assert cache.paid("why") == 20
    assert len(server.requests) <= 24


async def test_a_server_that_always_fails_is_given_up_after_the_sdks_retries() -> None:
    async with sampling(lambda _: Answer(error("oops"), 500, AT_ONCE), budget=50) as (sampler, server):
        with pytest.raises(ModelFailed, match="answered 500: oops"):
            await sampler.draw([ask(n=5)])
    assert len(server.requests) == 3


@pytest.mark.parametrize("n", [1, 5])
async def test_a_server_that_always_fails_never_gets_more_than_the_budget(n: int) -> None:
    async with sampling(lambda _: Answer(error("oops"), 500, AT_ONCE), budget=5) as (sampler, server):
        with pytest.raises((ModelFailed, BudgetSpent)):
            await sampler.draw([ask(n=n)])
    assert len(server.requests) <= 5


async def test_retries_count_against_the_budget() -> None:
    async with sampling(lambda _: Answer(error("oops"), 503, AT_ONCE), budget=2) as (sampler, server):
        with pytest.raises(BudgetSpent):
            await sampler.draw([ask(n=1)])
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [500, 502, 503, 529, 408, 409, 429])
async def test_a_passing_failure_is_retried_and_costs_an_attempt(status: int) -> None:
    def script(received: Received) -> Answer:
        return Answer(error("busy"), status, AT_ONCE) if received.index == 1 else hi(received)

    budget = Budget(10)
    with Loopback(script) as server, ReplyCache(None) as cache:
        async with opened(server) as model:
            model.max_n = 1
            [drawn] = await Sampler(model, cache, budget).draw([ask(n=3)])
    assert len(drawn.answers) == 3
    assert budget.spent == len(server.requests) == 4


async def test_a_connection_lost_in_mid_body_is_an_attempt_that_may_be_billed() -> None:
    def script(received: Received) -> Answer:
        return Answer(chat_reply("hi"), drop=received.index == 0)

    budget = Budget(10)
    with Loopback(script) as server, ReplyCache(None) as cache:
        async with opened(server) as model:
            model.max_n = 1
            [drawn] = await Sampler(model, cache, budget).draw([ask(n=1)])
    assert len(drawn.answers) == 1
    assert budget.spent == len(server.requests) == 2


async def test_a_429_pauses_every_worker() -> None:
    def script(received: Received) -> Answer:
        arrivals.append(time.monotonic())
        if received.index == 4:
            return Answer(error("slow down"), 429, {"retry-after-ms": "500"})
        if received.index > 4:
            # Kept on the wire until the pause is known, so that it is known how many can be there.
            assert paused.wait(PATIENCE)
        return hi(received)

    class Watched(HttpModel):
        async def sample(self, request: Request, n: int) -> Sequence[Sample]:
            listener = attempts.current.get()
            heard = listener.rejected

            def rejected(status: int, wait: float | None) -> None:
                heard(status, wait)
                paused.set()

            attempts.current.set(Listening(listener.samples, listener.start, rejected, listener.note))
            return await super().sample(request, n)

    arrivals: list[float] = []
    paused = threading.Event()
    with Loopback(script) as server, ReplyCache(None) as cache:
        model = Watched("chat.completions", endpoint(server.url), deadline=PATIENCE)
        model.max_n = 1
        await Sampler(model, cache, Budget(None), concurrency=4).draw([ask(n=30)])
        await model.aclose()
    assert len(arrivals) == 31
    on_their_way = 3
    assert min(arrivals[5 + on_their_way :]) >= arrivals[4] + 0.5


async def test_a_request_has_one_deadline_however_slowly_bytes_come() -> None:
    stop = threading.Event()

    def drip() -> Iterator[bytes]:
        while not stop.wait(0.02):
            yield b" "

    with Loopback(lambda _: Answer(chunks=drip())) as server, anyio.fail_after(PATIENCE):
        async with opened(server, deadline=0.2) as model:
            with pytest.raises(ModelFailed, match=r"within 0.2 s"):
                await model.sample(chat(), 1)
        stop.set()


async def test_a_server_that_is_not_there_is_named() -> None:
    with Loopback(hi) as gone:
        url = gone.url
    model = HttpModel("chat.completions", endpoint(url, None, named=False), deadline=PATIENCE)
    with pytest.raises(ModelFailed, match=f"no answer from {url}.*Is the server running"):
        await model.sample(chat(), 1)
    await model.aclose()


async def test_never_more_in_flight_than_allowed() -> None:
    async with sampling(hi, concurrency=5, latency=0.01) as (sampler, server):
        await sampler.draw([ask(str(i), 1) for i in range(60)])
    assert 2 <= server.max_in_flight <= 5


async def test_a_cancelled_draw_leaves_nothing_running() -> None:
    async with sampling(hi, concurrency=4, latency=0.02) as (sampler, server):
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(sampler.draw, [ask(str(i), 1) for i in range(1000)])
                while len(server.requests) < 20:  # noqa: ASYNC110 - the server's thread counts
                    await anyio.sleep(0.01)
                tasks.cancel_scope.cancel()
            sent = len(server.requests)
            await anyio.sleep(0.1)  # five times as long as an answer takes
        assert len(server.requests) <= sent + 4, "at most what was on the wire already"
        assert len(server.requests) < 1000


async def test_budgets_hold_at_the_servers_own_count() -> None:
    for seed in range(8):
        rng = random.Random(seed)

        def script(received: Received, rng: random.Random = rng) -> Answer:
            match rng.randrange(6):
                case 0:
                    return Answer(error("oops"), 500, AT_ONCE)
                case 1:
                    return Answer(error("slow"), 429, AT_ONCE)
                case _:
                    return hi(received)

        limit = rng.randint(1, 15)
        async with sampling(script, budget=limit, concurrency=rng.randint(1, 6)) as (sampler, server):
            try:
                await sampler.draw([ask(str(i), 2) for i in range(6)])
            except BudgetSpent:
                assert len(server.requests) == limit, seed
            except ModelFailed:
                pass
            assert len(server.requests) <= limit, seed


async def test_a_refused_request_alone_is_told_with_the_servers_words() -> None:
    with Loopback(lambda _: Answer(error("no such tool\u202e"), 400)) as server:
        async with opened(server) as model:
            with pytest.raises(RequestRefused, match=r"answered 400: no such tool<U\+202E>"):
                await model.sample(chat(), 1)


@pytest.mark.parametrize("before", range(285, 301, 5))
async def test_no_part_of_a_key_that_a_server_repeats_is_shown(before: int) -> None:
    async with sampling(lambda _: Answer(error("." * before + "sk-secret"), 401)) as (sampler, _):
        with pytest.raises(ModelFailed) as failure:
            await sampler.draw([ask()])
    assert "sk-" not in str(failure.value)
