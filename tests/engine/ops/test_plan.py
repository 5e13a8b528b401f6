"""The plan that a verb tells before its first call: what the reply cache holds is no call to come."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from inbox_run import agent
from loopback import Answer, Loopback, Received, chat_reply

import runtape
from runtape.cli.main import run as command
from runtape.report.results import Progress

DECISION = "tool:forward_email"
PLAN = re.compile(r"runtape: (?:about (\d+) model calls?)?(?: beside (\d+) kept repl\w+)?")
ALL_KEPT = re.compile(r"runtape: no model call: (?:the|all) (\d+) repl(?:y|ies) that it takes (?:is|are) kept")


def answering(received: Received) -> Answer:
    """The agent, and a judge that says yes."""
    if "You judge one answer" in json.dumps(received.body):
        return Answer(chat_reply("yes"))
    reply = agent(received.body)
    calls = [] if isinstance(reply, str) else [(call["name"], call["arguments"]) for call in reply["tool_calls"]]
    return Answer(chat_reply(reply if isinstance(reply, str) else None, calls))


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")


def planned(err: str) -> tuple[int, int]:
    """Calls to come and replies kept, as the first line on standard error tells them."""
    told = next(line for line in err.splitlines() if "model call" in line)
    if everything := ALL_KEPT.match(told):
        return 0, int(everything[1])
    found = PLAN.match(told)
    assert found is not None, told
    assert found[1], told
    return int(found[1]), int(found[2] or 0)


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("why", []),
        ("why", ["--depth", "upstream"]),
        ("why", ["--ask"]),
        ("why", ["--judge", "Is it a yes or no question?", "--runs", "3"]),
        ("fix", []),
        ("rerun", ["--add-system", "Be careful."]),
        ("odds", []),
    ],
)
def test_a_repeat_says_that_it_costs_nothing(
    run: Path, capsys: pytest.CaptureFixture[str], verb: str, options: list[str]
) -> None:
    with Loopback(answering) as server:
        arguments = [verb, str(run), DECISION, "--base-url", server.url, "--json", *options]
        status = command(arguments)
        first = capsys.readouterr()
        sent = len(server.requests)
        assert command(arguments) == status
        again = capsys.readouterr()
        assert len(server.requests) == sent
    calls, kept = planned(first.err)
    assert kept == 0
    assert calls > 0
    assert planned(again.err) == (0, json.loads(again.out)["reused"])


@pytest.mark.parametrize("verb", ["why", "fix", "odds"])
def test_what_was_paid_before_an_interruption_is_in_no_plan(
    run: Path, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    with Loopback(answering) as server:
        arguments = [verb, str(run), DECISION, "--base-url", server.url, "--json"]
        assert command([*arguments, "--budget", "13"]) == 3
        capsys.readouterr()
        sent = len(server.requests)
        assert command(arguments) in (0, 1)
        sent = len(server.requests) - sent
    finished = capsys.readouterr()
    calls, kept = planned(finished.err)
    assert kept == json.loads(finished.out)["reused"] == 13
    assert sent / 2 <= calls <= 2 * sent


def test_a_fix_plans_with_the_replies_that_found_the_cause(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Loopback(answering) as server:
        more = ["--base-url", server.url, "--json"]
        command(["why", str(run), DECISION, *more])
        found = json.loads(capsys.readouterr().out)
        sent = len(server.requests)
        command(["fix", str(run), DECISION, *more])
        calls, kept = planned(capsys.readouterr().err)
        assert kept >= found["calls"]
        assert calls >= (len(server.requests) - sent) / 2


def test_verdicts_are_in_the_plan_of_a_judged_decision(run: Path) -> None:
    told: list[Progress] = []
    question = "Is it a yes or no question?"
    with Loopback(answering) as server:
        more: dict[str, Any] = {"base_url": server.url, "cache_dir": None, "on_progress": told.append}
        runtape.rerun(run, DECISION, judge=question, runs=8, **more)
        judged = told[0]
        told.clear()
        runtape.rerun(run, DECISION, runs=8, **more)
    assert (told[0].calls, told[0].planned) == (0, 8)
    assert (judged.calls, judged.planned) == (0, 16)


def test_the_first_progress_of_a_repeat_is_its_last(run: Path) -> None:
    with Loopback(answering) as server:
        for repeat in (False, True):
            told: list[Progress] = []
            report = runtape.why(run, DECISION, base_url=server.url, on_progress=told.append)
            assert told[-1].partial == report
            assert told[-1].reused == report.reused
            assert (len(told) == 1) is repeat
            assert told[0].calls == 0
