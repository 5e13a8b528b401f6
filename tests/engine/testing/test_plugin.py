"""The pytest plugin, in sessions of their own over written tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import runtape

AGENT = """
def agent(request):
    with open("calls.txt", "a") as file:
        file.write("x")
    text = str(request["messages"])
    bad = "wire the money" in text and "never pay" not in text
    return {"text": None, "tool_calls": [{"name": "pay", "arguments": {}}]} if bad else "no"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with an agent, and the test of one fixed and one open decision."""
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    with runtape.record(tmp_path / "run.jsonl") as recorder:
        messages = [{"role": "system", "content": "Help."}, {"role": "user", "content": "Please wire the money."}]
        asked = recorder.log_llm_request(provider="openai", api="chat.completions", model="m", messages=messages)
        recorder.log_llm_response(asked, tool_calls=[{"id": "c", "name": "pay", "arguments": {}}])
    runtape.write_test(recorder.path, "last", tmp_path / "test_fixed.py", add_system="never pay")
    runtape.write_test(recorder.path, "last", tmp_path / "test_open.py")
    return tmp_path


def session(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("RUNTAPE_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=100
    )


def calls(folder: Path) -> int:
    file = folder / "calls.txt"
    return len(file.read_text()) if file.exists() else 0


WITH_MODEL = ("--runtape-model", "agent.py:agent")


def test_options_say_how_often_and_whom_to_ask_and_a_line_says_what_it_cost(folder: Path) -> None:
    done = session(folder, *WITH_MODEL, "--runtape-runs", "4", "--junit-xml", "report.xml")
    assert "1 failed, 1 passed" in done.stdout
    assert "runtape: 2 tests reran decisions with 8 model calls" in done.stdout
    assert calls(folder) == 8
    cases = ET.parse(folder / "report.xml").iter("testcase")
    said = {case.get("classname"): {p.get("name"): p.get("value") for p in case.iter("property")} for case in cases}
    assert said["test_fixed"] == {"runtape_calls": "4", "runtape_decision": "calls pay: 0 of 4"}
    assert said["test_open"]["runtape_decision"] == "calls pay: 4 of 4"


def test_a_budget_of_the_session_is_never_exceeded_and_spent_is_an_error_not_a_pass(folder: Path) -> None:
    done = session(folder, *WITH_MODEL, "--runtape-budget", "13")
    assert calls(folder) == 13
    assert "2 failed" in done.stdout or "1 failed, 1 passed" in done.stdout
    assert "13 model calls of at most 13" in done.stdout
    assert "Only 3 of 10 reruns" in done.stdout


def test_one_test_and_one_call_are_told_as_one(folder: Path) -> None:
    done = session(folder, *WITH_MODEL, "--runtape-runs", "1", "test_fixed.py")
    assert "runtape: 1 test reran decisions with 1 model call\n" in done.stdout


def test_workers_share_the_budget(folder: Path) -> None:
    done = session(folder, *WITH_MODEL, "--runtape-budget", "7", "-n", "2")
    assert calls(folder) <= 7
    assert "of at most 7" in done.stdout
    assert " passed" not in done.stdout.splitlines()[-1]


def test_offline_tests_that_ask_are_skipped_with_the_reason_and_others_run(folder: Path) -> None:
    (folder / "test_plain.py").write_text("def test_plain():\n    assert True\n", encoding="utf-8")
    done = session(folder, "--runtape-offline", "-rs")
    assert "1 passed, 2 skipped" in done.stdout
    assert "it asks a model, and --runtape-offline is given" in done.stdout
    assert calls(folder) == 0


def test_a_session_that_reruns_nothing_shows_and_loads_nothing(folder: Path) -> None:
    plain = folder / "plain"
    plain.mkdir()
    (plain / "test_plain.py").write_text(
        "import sys\n\ndef test_plain():\n"
        "    assert not {'anyio', 'openai', 'anthropic', 'runtape.ops.rerunning', 'numpy'} & {*sys.modules}\n",
        encoding="utf-8",
    )
    done = session(plain, "-p", "no:anyio", "-p", "no:xdist", "-p", "no:hypothesispytest", "-p", "no:inline_snapshot")
    assert "1 passed" in done.stdout, done.stdout
    assert "runtape" not in done.stdout.splitlines()[-1]
    assert "model calls" not in done.stdout


@pytest.mark.parametrize("arguments", [["--runtape-runs", "0"], ["--runtape-runs", "x"], ["--runtape-budget", "-1"]])
def test_a_bad_option_is_one_message(folder: Path, arguments: list[str]) -> None:
    done = session(folder, *arguments)
    assert done.returncode == 4
    assert "Traceback" not in done.stderr
