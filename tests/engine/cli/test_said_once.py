"""A person at a terminal is told each thing once, where it is looked for, and sees that long work goes on."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, Loopback, Received, chat_reply

import runtape
from runtape.cli.main import run

DECISION = "tool:pay"


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A run whose second event is the decision to pay."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with runtape.record(tmp_path / "my run.jsonl") as rec:
        asked = rec.log_llm_request(
            provider="openai",
            api="chat.completions",
            model="m",
            messages=[{"role": "user", "content": "Always pay at once. Be quick."}],
            endpoint="http://127.0.0.1:9/v1",
        )
        rec.log_llm_response(asked, tool_calls=[{"id": "c", "name": "pay", "arguments": {}}], stop_reason="tool_calls")
    return str(rec.path)


def at_a_terminal(*arguments: str) -> str:
    """What a command shows on one."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "200"}
    command = [sys.executable, "-m", "runtape.cli", *arguments]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        seen = b""
        try:
            while data := os.read(ours, 65536):
                seen += data
        except OSError:  # the other end is closed
            pass
        assert process.wait(60) in {0, 1}
    os.close(ours)
    return re.sub(r"\s+", " ", seen.decode())


def half_cut(received: Received) -> Answer:
    if not received.index % 2:
        return Answer(chat_reply(None, [("pay", {})]))
    body: dict[str, Any] = chat_reply("Let me")
    body["choices"][0]["finish_reason"] = "length"
    return Answer(body)


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
@pytest.mark.parametrize("verb", ["why", "odds", "fix"])
def test_what_a_request_lacks_is_said_once_to_whoever_reads_both(trace: str, verb: str) -> None:
    text = Path(trace).read_text(encoding="utf-8")
    mark = '"meta":{"fidelity":"partial","missing":["params","tools"]'
    Path(trace).write_text(text.replace('"meta":{', mark + ",", 2).replace(",}", "}"), encoding="utf-8")
    Path("model.py").write_text("def f(request):\n    return 'No.'\n", encoding="utf-8")
    arguments = (verb, trace, DECISION, "--model-fn", "model.py:f")
    assert at_a_terminal(*arguments).count("lacks params, tools") == 1
    piped = subprocess.run(
        [sys.executable, "-m", "runtape.cli", *arguments], capture_output=True, text=True, check=False
    )
    assert "lacks params, tools" in piped.stderr
    assert "lacks params, tools" in piped.stdout  # a report in a file stands for itself


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
def test_a_page_that_takes_long_shows_how_far_it_is(trace: str) -> None:
    assert "reading the run" in at_a_terminal("view", trace, "--out", "run.html")


def test_odds_say_next_to_their_answer_why_they_are_fewer(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    with Loopback(half_cut) as server:
        arguments = ["odds", trace, DECISION, "--base-url", server.url]
        assert run([*arguments, "--runs", "30"]) == 0
        _, answer, fewer, *_ = capsys.readouterr().out.split("\n\n")
        assert run([*arguments, "--runs", "50", "--budget", "4"]) == 3
        _, _, early, *_ = capsys.readouterr().out.split("\n\n")
    counted = re.search(r"in \d+ of (\d+) reruns", answer)
    assert counted is not None
    assert int(counted[1]) < 30
    assert re.match(r"Fewer than the 30 reruns that were asked for: \d+ answers do not count", fewer)
    assert early.startswith("Ended early: the budget of 4 model calls is spent.")


def test_a_page_is_explained_with_the_flags_of_why(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    def flags(command: str) -> set[str]:
        with pytest.raises(SystemExit):
            raise SystemExit(run([command, "--help"]))
        return set(re.findall(r"--[a-z-]+", capsys.readouterr().out))

    assert flags("why") - {"--html", "--json", "--dry"} <= flags("view")
    Path("model.py").write_text("def f(request):\n    return 'No.'\n", encoding="utf-8")
    more = ["--depth", "full", "--suspect", "Always pay at once.", "--no-likelihood", "--model-fn", "model.py:f"]
    assert run(["view", trace, "--out", "run.html", "--why", DECISION, *more]) == 0


def test_a_run_has_one_name_in_all_titles(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("model.py").write_text("def f(request):\n    return {'tool_calls': [{'name': 'pay', 'arguments': {}}]}\n")
    for line in (["why", "--dry"], ["why"], ["fix"], ["show"], ["timeline"], ["context"], ["summary"]):
        command, *more = line
        asks = command in {"why", "fix"} and not more
        event = [DECISION] if command in {"why", "fix", "context"} else []
        run([command, trace, *event, *more, *(["--model-fn", "model.py:f"] if asks else [])])
        title = capsys.readouterr().out.partition("\n")[0]
        assert ".jsonl" not in title
        assert "my run" in title
