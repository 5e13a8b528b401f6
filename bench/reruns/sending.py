"""Draws many samples over HTTP: `python sending.py URL WANTED EACH CONCURRENCY`.

A process of its own, so that it shares no interpreter with the server that measures it.
"""

from __future__ import annotations

import os
import sys

import anyio

from runtape.sample.asks import Ask
from runtape.sample.budget import Budget
from runtape.sample.cache import ReplyCache
from runtape.sample.resolve import resolve
from runtape.sample.sampler import Sampler
from runtape.wire.values import Json, Request

URL, WANTED, EACH, CONCURRENCY = sys.argv[1:]


def request(text: str) -> Request:
    messages: list[Json] = [{"role": "user", "content": text}]
    return Request("openai", "chat.completions", None, {"model": "m", "messages": messages})


async def main() -> None:
    os.environ["OPENAI_API_KEY"] = "k"
    asks = [Ask(request(f"question {number}"), "pool", int(EACH)) for number in range(int(WANTED))]
    model = resolve(asks[0].request, base_url=URL)
    with ReplyCache(None) as cache:
        await Sampler(model, cache, Budget(None), concurrency=int(CONCURRENCY)).draw(asks)
    await model.aclose()


if __name__ == "__main__":
    anyio.run(main)
