"""A process that draws 24 samples from a counting server: `python drawing_process.py CACHE_FOLDER URL LEASE`. Run by tests.

It prints each answer once it is kept, and in the last line all of them.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from typing import Any

import anyio
from sampling import ask

from runtape.sample.asks import Ask
from runtape.sample.budget import Budget
from runtape.sample.cache import ReplyCache
from runtape.sample.function import FunctionModel
from runtape.sample.model import Answer
from runtape.sample.rows import Sample
from runtape.sample.sampler import Sampler


def model(request: dict[str, Any]) -> str:
    data = json.dumps(request["messages"]).encode()
    url = f"{sys.argv[2]}/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(url, data, method="POST")) as answer:
        return str(json.load(answer))


def asks() -> list[Ask]:
    return [ask(f"question {i}", 3) for i in range(8)]


class Telling(ReplyCache):
    def add(self, sample: Sample, answer: Answer, *, job: str) -> None:
        super().add(sample, answer, job=job)
        print(answer.raw, flush=True)


async def main() -> None:
    with Telling(sys.argv[1], lease=float(sys.argv[3])) as cache:
        sampler = Sampler(FunctionModel(model), cache, Budget(None), concurrency=4, job="why")
        drawn = await sampler.draw(asks())
        print(json.dumps([[answer.raw for answer in one.answers] for one in drawn]))
        assert not sampler.notes, sampler.notes


if __name__ == "__main__":
    anyio.run(main)
