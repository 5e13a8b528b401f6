from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from loopback import Answer, Loopback, Received, chat_reply

from runtape.errors import ModelFailed
from runtape.sample.asks import Ask
from runtape.sample.budget import Budget
from runtape.sample.cache import ReplyCache
from runtape.sample.endpoint import Endpoint
from runtape.sample.function import FunctionModel
from runtape.sample.http_models import HttpModel
from runtape.sample.model import Answer as Sample
from runtape.sample.model import Model
from runtape.sample.sampler import Sampler
from runtape.testing.conformance import LAWS, Law, check_model
from runtape.testing.models import PlantedModel, ScriptedModel
from runtape.wire.values import Request, ToolCall

pytestmark = pytest.mark.anyio

BODY: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Pay the bill."}]}
REQUESTS = {
    "chat.completions": Request("openai", "chat.completions", None, BODY),
    "responses": Request("openai", "responses", None, {"model": "m", "input": "Pay the bill."}),
    "messages": Request("anthropic", "messages", None, BODY),
}
CHAT = REQUESTS["chat.completions"]


def provider(received: Received) -> Answer:
    if received.path.endswith("/messages"):
        block = {"type": "text", "text": "hi"}
        return Answer({"type": "message", "role": "assistant", "content": [block], "stop_reason": "end_turn"})
    if received.path.endswith("/responses"):
        message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}
        return Answer({"object": "response", "status": "completed", "output": [message]})
    return Answer(chat_reply("hi", n=received.body.get("n", 1)))


MODELS: dict[str, Callable[[], Model]] = {
    "function": lambda: FunctionModel(lambda request: str(request["model"])),
    "function of another shape": lambda: FunctionModel(lambda _: 3),
    "scripted": lambda: ScriptedModel(["hi"] * 20),
    "scripted, several at once": lambda: ScriptedModel(lambda _: "hi", max_n=3),
    "planted": lambda: PlantedModel(["bill"], tool="pay", with_rate=0.5, max_n=2),
}


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("name", MODELS)
async def test_models_hold_every_law(name: str, law: Law) -> None:
    await law(MODELS[name], CHAT)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("api", REQUESTS)
async def test_models_behind_an_api_hold_every_law(api: str, law: Law) -> None:
    with Loopback(provider) as server:
        endpoint = Endpoint(server.url, "k", "OPENAI_API_KEY", named=True)
        await law(functools.partial(HttpModel, api, endpoint), REQUESTS[api])


class Generous(ScriptedModel):
    async def sample(self, request: Request, n: int) -> Sequence[Sample]:
        return [*await super().sample(request, n), *await super().sample(request, n)]


class Meddling(ScriptedModel):
    async def sample(self, request: Request, n: int) -> Sequence[Sample]:
        request.body["model"] = "other"
        return await super().sample(request, n)


class Wordless(ScriptedModel):
    async def sample(self, request: Request, n: int) -> Sequence[Sample]:
        return [Sample(None, None)]


@pytest.mark.parametrize(
    ("kind", "broken"),
    [(Generous, "answers to a request for"), (Meddling, "body was changed"), (Wordless, "needs a reply or an error")],
)
async def test_a_model_that_breaks_a_law_is_found_out(kind: type[ScriptedModel], broken: str) -> None:
    fresh = Request("openai", "chat.completions", None, dict(BODY))
    with pytest.raises(AssertionError, match=broken):
        await check_model(lambda: kind(["hi"] * 50), fresh)


async def test_a_script_is_answered_in_order_and_ends() -> None:
    model = ScriptedModel(["a", {"tool_calls": [{"name": "pay"}]}], max_n=3)
    one, two = await model.sample(CHAT, 3)
    assert one.reply is not None
    assert two.reply is not None
    assert (one.reply.text, two.reply.tool_calls) == ("a", (ToolCall("pay", "{}", {}),))
    with pytest.raises(ModelFailed, match="2 replies is used up"):
        await model.sample(CHAT, 1)
    assert model.asked == [CHAT, CHAT]


def asking(text: str) -> Request:
    return Request("openai", "chat.completions", None, {"model": "m", "messages": [{"role": "user", "content": text}]})


async def tools(model: Model, text: str, n: int) -> list[str]:
    with ReplyCache(None) as cache:
        [drawn] = await Sampler(model, cache, Budget(None)).draw([Ask(asking(text), "pool", n)])
    return [answer.reply.tool_calls[0].name for answer in drawn.answers if answer.reply and answer.reply.tool_calls]


async def test_a_planted_model_acts_on_its_needles_alone() -> None:
    model = PlantedModel(["forward", "today"], tool="send", instead="archive")
    assert await tools(model, "Please forward it today.", 5) == ["send"] * 5
    assert await tools(model, "Please forward it.", 5) == ["archive"] * 5


async def test_a_planted_model_has_the_rates_it_was_given() -> None:
    model = PlantedModel(["forward"], tool="send", with_rate=0.8, without_rate=0.1)
    assert 140 <= len(await tools(model, "forward", 200)) <= 180
    assert 5 <= len(await tools(model, "keep", 200)) <= 40


async def test_a_planted_model_answers_a_sample_alike_in_every_run_and_at_any_batch_size() -> None:
    one = PlantedModel(["x"], tool="send", with_rate=0.5, instead="wait")
    other = PlantedModel(["x"], tool="send", with_rate=0.5, instead="wait", max_n=7)
    assert await tools(one, "x", 30) == await tools(other, "x", 30)
    assert await tools(PlantedModel(["x"], tool="send", with_rate=0.5, instead="wait", seed=1), "x", 30) != await tools(
        one, "x", 30
    )
