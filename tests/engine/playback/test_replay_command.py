"""`runtape replay`: a script that records itself is run against its record."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from loopback import Answer, Loopback, Received, chat_reply

AGENT = """
import sys
import openai
import runtape

with runtape.record(name="orders") as rec:
    client = rec.wrap(openai.OpenAI(base_url=sys.argv[2], api_key="k", max_retries=0))

    @rec.tool
    def refund(order: str) -> str:
        with open("refunds.txt", "a") as file:
            file.write(order + "\\n")
        return f"refunded {order}"

    order = sys.argv[1]
    reply = client.chat.completions.create(model="m", messages=[{"role": "user", "content": order}])
    print(reply.choices[0].message.content, refund(order))
"""


def answer(received: Received) -> Answer:
    return Answer(chat_reply(f"for {received.body['messages'][0]['content']}:"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the agent has run once, against a real server that is gone now."""
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    with Loopback(answer) as server:
        done = run(tmp_path, "agent.py", "order-7", server.url)
    assert done.stdout == "for order-7: refunded order-7\n"
    return tmp_path


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "RUNTAPE_DIR"}
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def replay(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(folder, "-m", "runtape.cli", "replay", *arguments)


NOBODY = "http://127.0.0.1:9/v1"


def test_a_script_runs_as_recorded_and_nothing_is_refunded_twice(folder: Path) -> None:
    for _ in range(2):  # the replay itself leaves no trace that `last` would find
        done = replay(folder, "last", "agent.py", "order-7", NOBODY)
        assert done.stdout == "for order-7: refunded order-7\n"
        assert done.returncode == 0, done.stderr
    assert (folder / "refunds.txt").read_text() == "order-7\n"
    assert len(list((folder / "traces").iterdir())) == 1


def test_recording_switched_off_does_not_switch_the_tools_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNTAPE_DISABLED", "1")
    assert replay(folder, "last", "agent.py", "order-7", NOBODY).returncode == 0
    assert (folder / "refunds.txt").read_text() == "order-7\n"


def test_another_order_stops_before_the_tool_and_shows_where(folder: Path) -> None:
    done = replay(folder, "last", "agent.py", "order-8", NOBODY)
    assert done.returncode == 1
    assert "messages[0].content" in done.stderr
    assert "order-8" in done.stderr
    assert "Traceback" not in done.stderr
    assert (folder / "refunds.txt").read_text() == "order-7\n"


def test_calls_that_are_not_made_again_are_named(folder: Path) -> None:
    (folder / "nothing.py").write_text("", encoding="utf-8")
    done = replay(folder, "last", "nothing.py")
    assert done.returncode == 1
    assert "did not make again" in done.stderr


OTHER = """
import anthropic

client = anthropic.Anthropic(base_url="http://127.0.0.1:9", api_key="k", max_retries=0)
client.messages.create(model="m", max_tokens=1, messages=[{"role": "user", "content": "order-7"}])
"""


def test_a_script_that_calls_another_api_than_the_record_is_said_to_be_another_one(folder: Path) -> None:
    (folder / "other.py").write_text(OTHER, encoding="utf-8")
    done = replay(folder, "last", "other.py")
    assert done.returncode == 1
    assert "the record holds 1 call to `chat.completions`; this one is to `messages`" in done.stderr
    assert "made again" not in done.stderr


@pytest.mark.parametrize(
    "arguments", [["last", "missing.py"], ["missing", "agent.py"], ["--on-diverge", "maybe", "last", "agent.py"]]
)
def test_bad_input_is_one_message(folder: Path, arguments: list[str]) -> None:
    done = replay(folder, *arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 4  # of the option's, three are usage
