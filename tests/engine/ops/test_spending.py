"""What reruns cost: told before the first call, limited in tokens or money, counted at the server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from inbox_run import agent
from loopback import Answer, Loopback, Received, chat_reply

import runtape
from runtape.errors import BadInput
from runtape.report.results import Progress

DECISION = "tool:forward_email"
INPUT, OUTPUT = 500, 10


def answering(received: Received) -> Answer:
    reply = agent(received.body)
    calls = [] if isinstance(reply, str) else [(call["name"], call["arguments"]) for call in reply["tool_calls"]]
    body = chat_reply(reply if isinstance(reply, str) else None, calls)
    body["usage"] = {"prompt_tokens": INPUT, "completion_tokens": OUTPUT, "total_tokens": INPUT + OUTPUT}
    return Answer(body)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    file = tmp_path / "prices.json"
    file.write_text('{"dated": "2026-11-01", "models": {"m": {"input": 2.0, "output": 1.0}}}', encoding="utf-8")
    return file


@pytest.mark.parametrize("verb", [runtape.why, runtape.fix, runtape.rerun])
@pytest.mark.parametrize("limit", [{"budget_tokens": 15_000}, {"budget_usd": 0.02}])
def test_a_limit_in_tokens_or_money_holds_at_the_servers_own_count(
    run: Path, prices: Path, verb: Any, limit: dict[str, Any]
) -> None:
    more = {"runs": 40} if verb is runtape.rerun else {}
    with Loopback(answering) as server:
        report = verb(run, DECISION, base_url=server.url, prices=prices, cache_dir=None, **limit, **more)
        sent = len(server.requests)
    assert report.stopped_by == "budget"
    assert "larger budget" in report.stopped
    assert sent * (INPUT + OUTPUT) <= limit.get("budget_tokens", 10**9)
    assert sent * (INPUT * 2e-6 + OUTPUT * 1e-6) <= limit.get("budget_usd", 10**9)
    assert sent > 5
    assert any(
        f"Used: {sent * INPUT:,} tokens of input" in note and "dated 2026-11-01" in note for note in report.notes
    )


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": -(10**9), "completion_tokens": -10},
        {"prompt_tokens": 100, "completion_tokens": -(10**9)},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": 10**400, "completion_tokens": 1},
        {"prompt_tokens": "100", "completion_tokens": 1.5},
        [],
    ],
)
@pytest.mark.parametrize("limit", [{"budget_tokens": 15_000}, {"budget_usd": 0.02}])
def test_usage_that_cannot_be_true_costs_what_was_set_aside(
    run: Path, prices: Path, usage: Any, limit: dict[str, Any]
) -> None:
    with Loopback(lambda received: Answer({**chat_reply("hi"), "usage": usage})) as server:
        report = runtape.rerun(run, DECISION, runs=60, base_url=server.url, prices=prices, cache_dir=None, **limit)
        sent = len(server.requests)
    assert report.stopped_by == "budget"
    assert 0 < sent < 30
    assert f"The server did not say what {sent} of the requests used." in report.notes


def test_more_tokens_read_from_the_prompt_cache_than_there_are_count_as_all(run: Path, prices: Path) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 10**6}}
    with Loopback(lambda received: Answer({**chat_reply("hi"), "usage": usage})) as server:
        report = runtape.rerun(run, DECISION, runs=2, base_url=server.url, prices=prices, cache_dir=None)
    assert any("200 tokens of input (200 of them from the prompt cache)" in note for note in report.notes)


def test_a_price_that_nobody_knows_is_said_before_anything_is_sent(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_text('{"models": {"another": {"input": 2.0, "output": 1.0}}}', encoding="utf-8")
    with Loopback(answering) as server:
        for verb in (runtape.why, runtape.fix, runtape.rerun):
            with pytest.raises(BadInput, match=r"no price of the model 'm' is known.*--prices"):
                verb(run, DECISION, base_url=server.url, prices=file, budget_usd=1.0)
        assert server.requests == []
    with pytest.raises(BadInput, match="does not say how many tokens it uses"):
        runtape.why(run, DECISION, model=agent, budget_tokens=1000)
    for wrong in ({"budget_usd": -1.0}, {"budget_tokens": -1}, {"budget_usd": float("nan")}):
        with pytest.raises(BadInput, match="is no limit"):
            runtape.rerun(run, DECISION, model=agent, **wrong)


def test_the_plan_comes_before_the_first_call_and_the_estimate_goes_on(run: Path, prices: Path) -> None:
    told: list[tuple[Progress, int]] = []
    with Loopback(answering) as server:
        runtape.why(
            run,
            DECISION,
            base_url=server.url,
            prices=prices,
            cache_dir=None,
            on_progress=lambda progress: told.append((progress, len(server.requests))),
        )
        sent = len(server.requests)
    plan, before = told[0]
    assert (before, plan.calls) == (0, 0)
    assert plan.planned > 10
    assert plan.planned_usd is not None
    last, _ = told[-1]
    assert last.usd == pytest.approx(sent * (INPUT * 2e-6 + OUTPUT * 1e-6))
    assert last.planned_usd == pytest.approx(last.usd)


def test_the_command_line_prints_the_plan_first(run: Path, prices: Path, tmp_path: Path) -> None:
    with Loopback(answering) as server:
        command = ["why", str(run), DECISION, "--base-url", server.url, "--prices", str(prices), "--json"]
        done = subprocess.run(
            [sys.executable, "-m", "runtape.cli", *command, "--budget-usd", "1"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "OPENAI_API_KEY": "k"},
        )
    assert done.stderr.startswith("runtape: about ")
    assert " model calls" in done.stderr
    assert ", about $" in done.stderr
    assert any("by the prices of prices.json" in note for note in json.loads(done.stdout)["notes"])
