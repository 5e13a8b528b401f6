"""Reruns are neither recorded as calls of the agent around them nor answered from a record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from loopback import Answer, Loopback, chat_reply

import runtape


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback(lambda received: Answer(chat_reply(f"answer {received.index}"))) as running:
        yield running


def ask(client: openai.OpenAI) -> str:
    reply = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "go"}])
    return str(reply.choices[0].message.content)


def rerun(trace: Path, server: Loopback, how: str) -> int:
    def model(_: Any) -> str:
        with openai.OpenAI(base_url=server.url, api_key="k") as client:
            return ask(client)

    where: dict[str, Any] = {"base_url": server.url} if how == "base_url" else {"model": model}
    return len(runtape.rerun(trace, "last", runs=3, cache_dir=trace.parent / "cache", **where))


@pytest.mark.parametrize("how", ["base_url", "model"])
def test_in_a_recording_and_in_a_replay(tmp_path: Path, server: Loopback, how: str) -> None:
    with openai.OpenAI(base_url=server.url, api_key="k", max_retries=0) as client:
        with runtape.record(tmp_path / "run.jsonl") as rec:
            said = ask(rec.wrap(client))
        with runtape.record(tmp_path / "around.jsonl", capture=True) as around:
            assert rerun(rec.path, server, how) == 3
            ask(client)
        assert len(runtape.load(around.path).calls) == 1
        (tmp_path / "cache").rename(tmp_path / "first")
        before = len(server.requests)
        with runtape.replay(rec.path, capture=True) as replayed:
            assert rerun(rec.path, server, how) == 3
            assert ask(client) == said
        assert replayed.left == []
        assert len(server.requests) == before + 3
