"""Draws samples and prints each as soon as it is kept: `python drawing.py CACHE URL WANTED CONCURRENCY LEASE`."""

from __future__ import annotations

import json
import sys
import urllib.request
from typing import Any

import anyio

from runtape.sample.asks import Ask
from runtape.sample.budget import Budget
from runtape.sample.cache import ReplyCache
from runtape.sample.function import FunctionModel
from runtape.sample.model import Answer
from runtape.sample.rows import Sample
from runtape.sample.sampler import Sampler
from runtape.wire.values import Json, Request

CACHE, URL, WANTED, CONCURRENCY, LEASE = sys.argv[1:]
"""URL is that of a server of the bench."""


def model(request: dict[str, Any]) -> str:
    data = json.dumps({"model": "m", "messages": request["messages"]}).encode()
    request_ = urllib.request.Request(f"{URL}/chat/completions", data, method="POST")  # noqa: S310 - see URL
    with urllib.request.urlopen(request_) as answer:  # noqa: S310 - see URL
        return str(json.load(answer)["choices"][0]["message"]["content"])


def ask(number: int) -> Ask:
    messages: list[Json] = [{"role": "user", "content": f"question-{number}"}]
    return Ask(Request("openai", "chat.completions", None, {"model": "m", "messages": messages}), "pool", 1)


class Telling(ReplyCache):
    """Prints what is kept, once it is."""

    def add(self, sample: Sample, answer: Answer, *, job: str) -> None:
        super().add(sample, answer, job=job)
        print(answer.raw, flush=True)


async def main() -> None:
    asks = [ask(number) for number in range(int(WANTED))]
    with Telling(CACHE, lease=float(LEASE)) as cache:
        sampler = Sampler(FunctionModel(model), cache, Budget(None), concurrency=int(CONCURRENCY), job="why")
        drawn = await sampler.draw(asks)
    assert all(one.answers[0].reply for one in drawn)
    assert not sampler.notes, sampler.notes


if __name__ == "__main__":
    anyio.run(main)
