"""How much of the allowed concurrency is used while samples are left to be sent."""

from __future__ import annotations

import os

import anyio

from runtape.sample.asks import Ask
from runtape.sample.budget import Budget
from runtape.sample.cache import ReplyCache
from runtape.sample.resolve import resolve
from runtape.sample.sampler import Sampler
from runtape.wire.values import Json, Request

from .server import Served, Server, serving

LIMIT = 16
WANTED = 200


def mean_in_flight(latency: float, *, honours_n: bool) -> float:
    """Mean requests on their way of the `LIMIT` allowed, from the answer that shows that the server works until the
    last request leaves."""
    server = Server(lambda _: {"text": "hi"}, honours_n, latency)
    with serving(server, "127.0.0.1") as url:
        anyio.run(_draw, url)
    return _mean(sorted(server.served, key=lambda one: one.arrived))


async def _draw(url: str) -> None:
    os.environ["OPENAI_API_KEY"] = "k"
    asks = [Ask(_request(f"question {number}"), "pool", 3) for number in range(WANTED)]
    model = resolve(asks[0].request, base_url=url)
    with ReplyCache(None) as cache:
        await Sampler(model, cache, Budget(None), concurrency=LIMIT).draw(asks)
    await model.aclose()


def _request(text: str) -> Request:
    messages: list[Json] = [{"role": "user", "content": text}]
    return Request("openai", "chat.completions", None, {"model": "m", "messages": messages})


def _mean(served: list[Served]) -> float:
    start, end = served[0].answered, served[-1].arrived
    busy = sum(max(0.0, min(one.answered, end) - max(one.arrived, start)) for one in served)
    return busy / (end - start)
