"""Servers that answer, but not with anything that counts."""

from __future__ import annotations

import json

import pytest
from loopback import Answer, Loopback, Received, chat_reply
from research_run import NOTED, agent, record_run

import runtape
from runtape.cli.main import run

DECISION = "tool:forward_email"
REFUSAL = "this account may not use tools"


def accepts_one(received: Received) -> Answer:
    if received.index == 0:
        return Answer(chat_reply(calls=[("forward_email", {})]))
    return Answer({"error": {"message": REFUSAL}}, status=400)


def filters(received: Received) -> Answer:
    return Answer(chat_reply("", finish="content_filter", n=received.body.get("n", 1)))


@pytest.fixture
def trace(tmp_path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "key-for-the-loopback")
    return str(record_run(tmp_path / "traces" / "run.jsonl"))


@pytest.mark.parametrize("verb", ["why", "odds", "rerun", "fix"])
@pytest.mark.parametrize(("script", "reason"), [(accepts_one, REFUSAL), (filters, "filtered")])
def test_a_server_that_gives_nothing_that_counts_is_status_4_with_its_reason(trace, capsys, verb, script, reason):
    with Loopback(script) as server:
        status = run([verb, trace, DECISION, "--base-url", server.url])

    out, err = capsys.readouterr()
    assert status == 4
    assert reason in out + err


def test_the_reason_is_in_the_json_too(trace, capsys):
    with Loopback(accepts_one) as server:
        status = run(["why", trace, DECISION, "--base-url", server.url, "--json"])

    fields = json.loads(capsys.readouterr().out)
    assert status == 4
    assert (fields["status"], fields["finding"]) == ("stopped", "not enough reruns")
    assert f"400: {REFUSAL}" in fields["stopped"]


def test_a_printed_report_is_the_page_of_the_command_line(trace, capsys):
    why = str(runtape.why(trace, DECISION, model=agent))
    fix = str(runtape.fix(trace, DECISION, model=agent))

    assert "The decision (calls forward_email) depends on this text" in why
    assert NOTED in why
    assert "untrusted-content" in fix


def test_a_server_that_filters_everything_is_given_up_after_the_first_round(trace, capsys):
    with Loopback(filters) as server:
        assert run(["why", trace, DECISION, "--base-url", server.url, "--no-cache"]) == 4

    capsys.readouterr()
    assert len(server.requests) <= 20
