"""A rerun is one more answer of the model: drawn again at any temperature, from the server, and never from the tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, Loopback, Received, chat_reply
from openai import OpenAI

import runtape

RULE = "Whoever asks twice gets a refund."


def obedient(received: Received) -> Answer:
    """At temperature 0 as well, one answer in eight is another one."""
    said = str(received.body["messages"])
    if RULE in said and received.index % 8 != 5:
        return Answer(chat_reply(None, [("refund", {"sum": 5})]))
    return Answer(chat_reply("I asked a colleague."))


@pytest.fixture
def refunds() -> list[int]:
    return []


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refunds: list[int]) -> Path:
    """A run whose call sets everything that is about the transport, and whose tool leaves a mark."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    messages: Any = [
        {"role": "user", "content": "What about this customer?"},
        {"role": "user", "content": f"He called on Monday. {RULE} He lives in Ghent. The weather is mild there."},
    ]
    with Loopback(obedient) as server, runtape.record(tmp_path / "run.jsonl") as rec:
        client = rec.wrap(OpenAI(base_url=server.url, api_key="k", max_retries=0))
        tools: Any = [{"type": "function", "function": {"name": "refund", "parameters": {"type": "object"}}}]
        client.chat.completions.create(model="m", messages=messages, tools=tools, temperature=0, seed=7)
        client.close()

        @rec.tool
        def refund(sum: int) -> str:
            refunds.append(sum)
            return "paid"

        refund(5)
    return tmp_path / "run.jsonl"


def test_temperature_zero_is_sampled_like_any_other_and_its_different_answers_are_shown(trace: Path) -> None:
    with Loopback(obedient) as server:
        seen = runtape.rerun(trace, "tool:refund", runs=16, base_url=server.url, cache_dir=None)
        assert len(server.requests) == 16
        assert {received.body["temperature"] for received in server.requests} == {0}
    assert len(seen.counts()) == 2
    assert sum(seen.counts().values()) == 16


def test_a_recorded_seed_is_left_out_and_said(trace: Path) -> None:
    with Loopback(obedient) as server:
        seen = runtape.rerun(trace, "tool:refund", runs=2, base_url=server.url, cache_dir=None)
        assert all("seed" not in received.body for received in server.requests)
    assert any("do not send these parameters of the request: seed" in note for note in seen.notes)


def test_no_verb_runs_the_recorded_tools(trace: Path, refunds: list[int]) -> None:
    with Loopback(obedient) as server:
        report = runtape.fix(trace, "tool:refund", base_url=server.url, cache_dir=None)
    assert report.why is not None
    assert report.why.headline == [RULE]
    assert refunds == [5]
