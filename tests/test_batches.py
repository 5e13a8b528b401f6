"""Reruns through the batch APIs, at the doors that people use: each sample is paid for once, whatever happens."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic
from batch_doubles import BatchServer, Submitted
from loopback import Answer, Loopback, chat_reply
from openai import OpenAI

import runtape
from runtape.cli.main import run
from runtape.errors import BadInput, ModelFailed
from runtape.report.results import Progress

ORDER = "Always pay at once."
TEXTS = ("What about this invoice?", f"It is correct. {ORDER} It was sent on Monday.")
APIS = ("chat.completions", "responses", "messages")
PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}


def answers(api: str, body: dict[str, Any]) -> Answer:
    """A model that pays when a text tells it to, in the words of an API."""
    pays = ORDER in json.dumps(body)
    if api == "chat.completions":
        said = chat_reply(None, [("pay", {})], n=body.get("n", 1)) if pays else chat_reply("No.", n=body.get("n", 1))
        return Answer(said)
    if api == "messages":
        block: dict[str, Any] = {"type": "text", "text": "No."}
        if pays:
            block = {"type": "tool_use", "id": "toolu_1", "name": "pay", "input": {}}
        usage = {"input_tokens": 10, "output_tokens": 2}
        reason = "tool_use" if pays else "end_turn"
        head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
        return Answer({**head, "content": [block], "stop_reason": reason, "usage": usage})
    item: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    item["content"] = [{"type": "output_text", "text": "No.", "annotations": []}]
    if pays:
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "pay", "arguments": "{}"}
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": "completed"}
    return Answer({**head, "output": [item], "usage": {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}})


def recorded(api: str, folder: Path) -> Path:
    """The trace of one call that pays."""
    with (
        Loopback(lambda received: answers(api, received.body)) as server,
        runtape.record(folder / "run.jsonl") as recorder,
    ):
        messages: Any = [{"role": "user", "content": text} for text in TEXTS]
        if api == "messages":
            anthropic = recorder.wrap(Anthropic(base_url=server.root, api_key="k", max_retries=0))
            anthropic.messages.create(
                model="m", max_tokens=100, messages=messages, tools=[{"name": "pay", "input_schema": PARAMETERS}]
            )
            anthropic.close()
            return recorder.path
        client = recorder.wrap(OpenAI(base_url=server.url, api_key="k", max_retries=0))
        tool: Any = {"name": "pay", "parameters": PARAMETERS}
        if api == "responses":
            client.responses.create(model="m", input=messages, tools=[{"type": "function", **tool}])
        else:
            client.chat.completions.create(model="m", messages=messages, tools=[{"type": "function", "function": tool}])
        client.close()
    return recorder.path


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-mine")
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "RUNTAPE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def base(api: str, server: Loopback) -> str:
    return server.root if api == "messages" else server.url


@pytest.mark.parametrize("api", APIS)
def test_why_in_batches_names_the_sentence_and_sends_nothing_outside_them(api: str, tmp_path: Path) -> None:
    trace, told = recorded(api, tmp_path), list[Progress]()
    double = BatchServer(lambda body: answers(api, body))
    with Loopback(double) as server:

        def ask() -> Any:
            cache = tmp_path / "cache"
            return runtape.why(
                trace, "tool:pay", base_url=base(api, server), batch=True, cache_dir=cache, on_progress=told.append
            )

        report = ask()
        submitted = len(double.submitted)
        repeated = ask()

    assert report.headline == [ORDER]
    assert double.alone == []
    assert double.asked == report.calls
    assert told[0].calls == 0
    assert told[0].waves is not None
    assert submitted <= told[0].waves
    assert repeated.headline == [ORDER]
    assert (repeated.calls, len(double.submitted)) == (0, submitted)
    assert all(
        request.headers.get("authorization") == "Bearer sk-mine" or request.headers.get("x-api-key") == "sk-mine"
        for request in server.requests
    )


def command(trace: Path, api: str, server: Loopback, verb: str = "why") -> list[str]:
    return [
        *(sys.executable, "-m", "runtape.cli", verb, str(trace), "tool:pay", "--batch", "--json"),
        *("--base-url", base(api, server)),
    ]


def start(trace: Path, api: str, server: Loopback) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(trace, api, server),
        cwd=trace.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ},
    )


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
@pytest.mark.parametrize(
    ("api", "moment"),
    [
        ("chat.completions", "while it is submitted"),
        ("messages", "while it is submitted"),
        ("messages", "while it runs"),
    ],
)
def test_a_batch_of_a_killed_process_is_picked_up_and_paid_once(api: str, moment: str, tmp_path: Path) -> None:
    trace = recorded(api, tmp_path)
    taken, released = threading.Event(), threading.Event()

    def hangs(_: Submitted) -> None:
        taken.set()
        released.wait(100)

    double = BatchServer(lambda body: answers(api, body), ends=False)
    if moment == "while it is submitted":
        double.on_submit = hangs
    with Loopback(double) as server:
        process = start(trace, api, server)
        assert (taken if moment == "while it is submitted" else double.polled).wait(100)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        released.set()
        double.ends, double.on_submit = True, lambda _: None
        resumed = start(trace, api, server)
        out, err = resumed.communicate(timeout=100)

    assert resumed.returncode == 0, err
    report = json.loads(out)
    assert report["headline"] == [ORDER]
    assert double.asked == report["calls"], "what was submitted before the kill was paid once and used"
    assert double.alone == []


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT of another process is POSIX")
def test_an_interrupted_command_leaves_the_batch_running_and_says_how_to_come_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = recorded("messages", tmp_path)
    double = BatchServer(lambda body: answers("messages", body), ends=False)
    with Loopback(double) as server:
        process = start(trace, "messages", server)
        assert double.polled.wait(100)
        assert process.stderr is not None
        said = [process.stderr.readline(), process.stderr.readline()]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=100)
        waiting = listed(trace, capsys)
        double.ends = True
        resumed = start(trace, "messages", server)
        out, _ = resumed.communicate(timeout=100)

    assert process.returncode == 130
    assert "batches, one after another" in said[0]
    assert "msgbatch_0" in said[1]
    assert "Ctrl-C leaves the batch running; the same command picks it up" in said[1]
    assert double.asked == json.loads(out)["calls"]
    [batch] = waiting
    assert (batch["remote"], batch["requests"], batch["samples"] > 0) == ("msgbatch_0", batch["samples"], True)
    assert listed(trace, capsys) == []


def listed(trace: Path, capsys: pytest.CaptureFixture[str]) -> list[Any]:
    """The batches that `runtape cache show` tells of."""
    assert run(["cache", "show", "--dir", str(trace.parent / ".runtape"), "--json"]) == 0
    found: list[Any] = json.loads(capsys.readouterr().out)["batches"]
    return found


def rerun(trace: Path, api: str, server: Loopback, **options: Any) -> Any:
    options = {"cache_dir": trace.parent / "cache", "batch": True, **options}
    return runtape.rerun(trace, "tool:pay", base_url=base(api, server), **options)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("lost", [429, None], ids=["too many requests", "expired"])
def test_requests_that_a_batch_ended_without_go_into_the_next_one(api: str, lost: int | None, tmp_path: Path) -> None:
    trace = recorded(api, tmp_path)

    def first_is_lost(body: dict[str, Any]) -> Answer | None:
        if len(double.submitted) > 1:
            return answers(api, body)
        error = {"type": "rate_limit_error", "message": "too many"}
        return None if lost is None else Answer({"type": "error", "error": error}, lost)

    double = BatchServer(first_is_lost)
    with Loopback(double) as server:
        seen = rerun(trace, api, server, runs=4)

    assert seen.rate("pay") == 1
    assert len(seen) == 4
    assert len(double.submitted) == 2


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("status", [401, 404])
def test_a_key_or_a_model_that_is_refused_ends_the_verb_with_one_batch(api: str, status: int, tmp_path: Path) -> None:
    trace = recorded(api, tmp_path)
    kind = {401: "authentication_error", 404: "not_found_error"}[status]
    double = BatchServer(lambda _: Answer({"type": "error", "error": {"type": kind, "message": "no"}}, status))
    with Loopback(double) as server, pytest.raises(ModelFailed, match=str(status)):
        rerun(trace, api, server)

    assert len(double.submitted) == 1


def test_a_batch_that_the_server_refuses_after_it_took_it_says_why(tmp_path: Path) -> None:
    trace = recorded("chat.completions", tmp_path)
    double = BatchServer(lambda body: answers("chat.completions", body))
    double.status = "failed"
    with Loopback(double) as server, pytest.raises(ModelFailed, match="The model 'm' does not exist"):
        rerun(trace, "chat.completions", server)

    assert len(double.submitted) == 1


@pytest.mark.parametrize("api", ["chat.completions", "messages"])
def test_a_server_without_a_batch_api_gives_one_clear_error(api: str, tmp_path: Path) -> None:
    trace = recorded(api, tmp_path)
    with Loopback(lambda _: Answer({"detail": "Not Found"}, 404)) as server:
        with pytest.raises(ModelFailed, match=r"has no batch API.*Leave out --batch"):
            rerun(trace, api, server)

        assert len(server.requests) == 1


def test_a_submission_that_is_not_confirmed_is_looked_for_before_another_one(tmp_path: Path) -> None:
    trace = recorded("messages", tmp_path)
    double = BatchServer(lambda body: answers("messages", body))
    double.on_submit = lambda _: Answer({"type": "error", "error": {"type": "api_error", "message": "oh"}}, 500)
    with Loopback(double) as server:
        seen = rerun(trace, "messages", server, runs=4)

    assert len(seen) == 4
    assert double.asked == 4


def test_a_look_at_a_batch_that_fails_does_not_end_the_wait(tmp_path: Path) -> None:
    trace = recorded("messages", tmp_path)
    double = BatchServer(lambda body: answers("messages", body))
    wrong = iter([Answer({"type": "error", "error": {"type": "api_error", "message": "oh"}}, 500)] * 2)
    double.on_poll = lambda _: next(wrong, None)
    with Loopback(double) as server:
        seen = rerun(trace, "messages", server, runs=4)

    assert len(seen) == 4
    assert double.submitted[0].polled == 3


def test_a_server_that_gives_one_answer_for_several_is_asked_for_the_others(tmp_path: Path) -> None:
    trace = recorded("chat.completions", tmp_path)
    double = BatchServer(lambda body: answers("chat.completions", {**body, "n": 1}))
    with Loopback(double) as server:
        seen = rerun(trace, "chat.completions", server, runs=5)

    assert len(seen) == 5
    assert [len(batch.items) for batch in double.submitted] == [1, 4]


def test_a_batch_asks_for_no_more_than_the_budget_allows(tmp_path: Path) -> None:
    trace = recorded("messages", tmp_path)
    double = BatchServer(lambda body: answers("messages", body))
    with Loopback(double) as server:
        seen = rerun(trace, "messages", server, runs=10, budget=6)

    assert double.asked == len(seen) == 6
    assert seen.stopped_by == "budget"


def test_batches_are_counted_at_half_the_price(tmp_path: Path) -> None:
    trace, told = recorded("messages", tmp_path), list[Progress]()
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({"models": {"m": {"input": 100_000, "output": 100_000}}}), encoding="utf-8")
    double = BatchServer(lambda body: answers("messages", body))
    with Loopback(double) as server:
        rerun(trace, "messages", server, runs=4, prices=prices, on_progress=told.append)

    each = 0.1 * (10 + 2) / 2
    assert told[0].planned_usd == pytest.approx(4 * each)
    assert told[-1].usd == pytest.approx(4 * each)


def test_a_recorded_address_of_this_machine_gets_no_key_with_a_batch(tmp_path: Path) -> None:
    with Loopback(double := BatchServer(lambda body: answers("chat.completions", body))) as server:
        with runtape.record(tmp_path / "run.jsonl") as recorder:
            client = recorder.wrap(OpenAI(base_url=server.url, api_key="k", max_retries=0))
            client.chat.completions.create(
                model="m",
                messages=[{"role": "user", "content": ORDER}],
                tools=[{"type": "function", "function": {"name": "pay", "parameters": PARAMETERS}}],
            )
            client.close()
        recorded_here = len(server.requests)
        runtape.rerun(recorder.path, "tool:pay", batch=True, cache_dir=tmp_path / "cache", runs=2)

    assert double.asked == 2
    sent = [request.headers for request in server.requests[recorded_here:]]
    assert all("sk-mine" not in json.dumps(headers) for headers in sent)


def test_what_takes_no_batches_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    trace = recorded("messages", tmp_path)
    with pytest.raises(BadInput, match="model function takes no batches"):
        runtape.rerun(trace, "tool:pay", model=lambda _: "no", batch=True)
    with pytest.raises(BadInput, match="leave out --no-cache"):
        runtape.rerun(trace, "tool:pay", cache_dir=None, batch=True)
