"""Runs of the planted benchmark on a server: kept replies are enough to score and to ask again without it."""

from __future__ import annotations

import random
from itertools import count
from pathlib import Path

from loopback import Answer, Loopback

from bench.compare import ASKING, METHODS, WHY, read
from bench.planted.__main__ import main
from bench.planted.chances import Slots
from bench.planted.kept import Kept
from bench.planted.live import Server
from bench.planted.rescoring import again, differences, rescore
from bench.planted.running import SIZE, run
from bench.planted.suites import planted

ROOT = Path(__file__).parent.parent.parent
CASES = [planted("one", "inbox", 31, SIZE), planted("one", "disk", 32, SIZE)]
NAMES = {name: METHODS[name] for name in (WHY, ASKING, "leave-one-out, 1 run")}


def weak_server(numbers):
    """Does what the first case plants, in nine of ten replies; honours `n`."""

    def script(received):
        body = received.body
        text = str(body["messages"])
        choices = []
        for _ in range(body.get("n", 1)):
            luck = random.Random(next(numbers)).random()
            if not body.get("tools"):
                message = {"role": "assistant", "content": "I cannot say."}
            else:
                told = any(sentence in text for sentence in CASES[0].sentences) and luck < 0.95
                name = CASES[0].domain.bad if told else body["tools"][0]["function"]["name"]
                call = {"id": "c", "type": "function", "function": {"name": name, "arguments": "{}"}}
                message = {"role": "assistant", "content": None, "tool_calls": [call]}
            choices.append({"index": 0, "message": message, "finish_reason": "stop"})
        return Answer({"choices": choices, "usage": {"prompt_tokens": 50, "completion_tokens": 9 * len(choices)}})

    return script


def test_a_run_is_scored_again_and_asked_again_from_its_replies_alone(tmp_path):
    path, replies = tmp_path / "out.jsonl", tmp_path / "replies.jsonl"
    with Loopback(weak_server(count())) as server:
        model = Kept(replies, Server(server.url, "m", "k"))
        run(path, CASES, model, NAMES, about={"about": "a test"})
        sent = len(server.requests)
        assert {request.headers["authorization"] for request in server.requests} == {"Bearer k"}

    results = read(path)
    assert [line.facts["counted"] for line in results.lines] == [True, False]
    assert results.lines[0].answers[WHY].headline == CASES[0].sentences
    assert results.lines[0].answers[ASKING].calls == 1
    assert sent == model.passes

    without = Kept(replies)
    assert differences(results, rescore(results, without)) == []
    assert differences(results, again(results, without, NAMES)) == []


def test_a_server_that_does_not_take_n_is_asked_for_one_reply_at_a_time(tmp_path):
    with Loopback(weak_server(count())) as server:
        drawn = Kept(tmp_path / "replies.jsonl", Server(server.url, "m", "k", many=False)).draw(CASES[0].body(), 0, 4)

    assert len(drawn.choices) == len(server.requests) == 4
    assert not any("n" in request.body for request in server.requests)


def test_a_run_that_was_killed_goes_on_without_asking_for_the_same_replies(tmp_path):
    path, replies = tmp_path / "out.jsonl", tmp_path / "replies.jsonl"
    few = {"wording overlap": METHODS["wording overlap"]}
    numbers = count()
    with Loopback(weak_server(numbers)) as server:
        run(path, CASES, Kept(replies, Server(server.url, "m", "k")), few, about={})
        first = len(server.requests)
        lines = path.read_text(encoding="utf-8").splitlines()
        path.write_text("\n".join(lines[:1]) + "\n" + lines[1][:40], encoding="utf-8")
        run(path, CASES, Kept(replies, Server(server.url, "m", "k")), few, about={})

    assert len(server.requests) == first
    assert [line.case for line in read(path).lines] == [case.name for case in CASES]


def test_a_context_stays_in_its_slot_while_others_come_and_go():
    slots = Slots()
    base = "system, tools, task " * 10 + "the page"
    first = slots.take(base)
    for number in range(3):
        assert slots.take(f"{number} another start " * 10) != first
        assert slots.take(base + f" changed {number}") == first


def test_rescore_reproduces_the_committed_table_without_a_model(capsys):
    assert main(["rescore", "planted_local", "--partial"]) == 0

    table = (ROOT / "bench" / "results" / "planted_local.md").read_text(encoding="utf-8")
    assert capsys.readouterr().out == table


def test_a_table_of_a_run_that_was_stopped_early_is_refused_unless_that_is_said(capsys):
    assert main(["report", "planted_local"]) == 1

    told = capsys.readouterr()
    assert told.out == ""
    assert "have no line" in told.err
