from __future__ import annotations

import pytest
from inbox_run import PLANTED, agent
from loopback import Answer, Loopback, Received, chat_reply
from openai import OpenAI

import runtape
from runtape.errors import BadModel, ModelFailed

DECISION = "tool:forward_email"


def answering(received: Received) -> Answer:
    """The agent of `inbox_run` behind an OpenAI-compatible server that honours `n`."""
    body = received.body
    reply = agent(body)
    calls = [] if isinstance(reply, str) else [(call["name"], call["arguments"]) for call in reply["tool_calls"]]
    return Answer(chat_reply(reply if isinstance(reply, str) else None, calls, n=body.get("n") or 1))


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")


def test_the_cause_is_found_through_the_providers_api(run):
    with Loopback(answering) as server:
        report = runtape.why(run, DECISION, base_url=server.url)

        assert report.headline == [PLANTED]
        assert report.requests == len(server.requests) < report.calls
        assert runtape.why(run, DECISION, base_url=server.url).requests == 0


def test_a_fix_is_measured_through_the_providers_api(run):
    with Loopback(answering) as server:
        report = runtape.fix(run, DECISION, base_url=server.url)

        assert report.best == "action-guard"
        assert report.requests == len(server.requests)


def test_a_refused_key_is_one_request_and_one_error(run):
    with Loopback(lambda received: Answer({"error": {"message": "bad key"}}, status=401)) as server:
        for verb in (runtape.why, runtape.fix, runtape.rerun):
            server.requests.clear()
            with pytest.raises(ModelFailed, match="401"):
                verb(run, DECISION, base_url=server.url)
            assert len(server.requests) == 1


def test_without_a_key_nothing_is_sent(run, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with Loopback(answering) as server:
        with pytest.raises(BadModel, match="OPENAI_API_KEY"):
            runtape.rerun(run, DECISION, base_url="https://api.openai.com/v1")
        assert server.requests == []


@pytest.mark.parametrize("stop", ["pause_turn", "abort", "tool_calls"])
def test_a_recorded_reply_that_broke_off_is_the_decision_that_the_agent_took_it_for(tmp_path, stop):
    with runtape.record(tmp_path / "run.jsonl") as rec:
        asked = rec.log_llm_request(
            provider="openai",
            api="chat.completions",
            model="m",
            messages=[{"role": "user", "content": "go"}],
            endpoint="http://127.0.0.1:9/v1",
        )
        rec.log_llm_response(asked, text="I pay it.", stop_reason=stop)

    assert runtape.rerun(rec.path, "last", runs=2, model=lambda _: "I pay it.", cache_dir=None).counts() == {
        "answers in text": 2
    }


@pytest.mark.parametrize("finish", ["error", "abort", "SAFETY", "model_length", "tool_calls"])
def test_no_rerun_that_broke_off_counts_as_an_answer_in_text(run, finish):
    def script(received: Received) -> Answer:
        if received.index:
            return Answer(chat_reply("I look at the", finish=finish, n=received.body.get("n") or 1))
        return Answer(chat_reply(calls=[("forward_email", {})]))

    with Loopback(script) as server:
        assert runtape.rerun(run, DECISION, runs=4, base_url=server.url, cache_dir=None).counts() == {
            "calls forward_email": 1
        }


def test_the_recorded_reply_sent_again_is_no_rerun(tmp_path):
    stored = {**chat_reply("hi"), "id": "chatcmpl-B7xQ2mP9sK4vT1wZ"}
    with Loopback(lambda _: Answer(stored)) as server:
        with runtape.record(tmp_path / "run.jsonl") as rec, OpenAI(base_url=server.url, api_key="k") as client:
            rec.wrap(client).chat.completions.create(model="m", messages=[{"role": "user", "content": "go"}])
        with pytest.raises(ModelFailed, match="repeats stored replies"):
            runtape.rerun(rec.path, "last", runs=4, base_url=server.url, cache_dir=None)


@pytest.mark.parametrize("verb", [runtape.rerun, runtape.why])
def test_rates_are_told_apart_by_what_answered(run, verb):
    def drifting(received: Received) -> Answer:
        early = received.index < 4
        body = chat_reply(None, [("forward_email", {})]) if early else chat_reply("I file it.")
        return Answer({**body, "system_fingerprint": "fp_a" if early else "fp_b"})

    with Loopback(drifting) as server:
        more = {"runs": 10} if verb is runtape.rerun else {}
        report = verb(run, DECISION, base_url=server.url, cache_dir=None, **more)

    told = "\n".join(report.notes)
    assert "answered as 'm fp_a' and 'm fp_b': its system changed between the answers" in told
    assert "by what answered: 'm fp_a' 4 of 4, 'm fp_b' 0 of " in told
