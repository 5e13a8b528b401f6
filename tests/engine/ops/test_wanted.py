"""Written tests that hold on to what was wanted, and those that run the user's own guard."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from inbox_run import PLANTED, RULE, SYSTEM, agent, record_run

import runtape
from runtape.errors import BadInput, PathRefused

DECISION = "tool:forward_email"
AGENT = f"{Path(__file__).parent / 'inbox_run.py'}:"
FIXED: dict[str, Any] = {"fix": {"name": "x", "add_system": RULE}}


def write(run: Path, out: str = "tests/test_inbox.py", *, model: str = "agent", **options: Any) -> Path:
    return runtape.write_test(run, DECISION, out, model=AGENT + model, runs=3, **options)


def session(folder: Path) -> str:
    """What one session over all tests of a folder prints."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("RUNTAPE_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", "-p", "no:xdist", str(folder)]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=100
    ).stdout


def test_what_was_wanted_is_tested_beside_what_must_not_come_back(run, tmp_path):
    other = record_run(tmp_path / "elsewhere" / "other.jsonl")
    test = write(run, controls=["2", (other, 2), (other, "tool:read_email")], **FIXED)
    write(run, "tests/test_lost.py", controls=["2"], model="never_reads", **FIXED)
    write(run, "tests/test_prompt.py", controls=["2"], model="never_reads", system_from="my_prompts:SYSTEM")
    (tmp_path / "tests" / "my_prompts.py").write_text(f"SYSTEM = {SYSTEM + ' ' + RULE!r}\n", encoding="utf-8")

    source = test.read_text(encoding="utf-8")
    assert '    (TRACE, 2),\n    (TRACE.with_suffix(".wanted1.jsonl"), 2),\n' in source
    assert "    (TRACE.with_suffix(\".wanted1.jsonl\"), 'tool:read_email'),\n" in source
    assert "until=lambda seen: seen.repeats_settled(KEPT)" in source
    assert str(tmp_path) not in source.replace(AGENT.rpartition("/")[0], "")
    assert test.with_suffix(".wanted1.jsonl").read_bytes() == other.read_bytes()
    other.unlink()
    printed = session(tmp_path / "tests")

    assert "2 failed, 6 passed" in printed
    for name in ("test_lost.py", "test_prompt.py"):
        assert f"FAILED {name}::test_what_was_wanted_is_still_done[trace0-2]" in printed
        assert f"PASSED {name}::test_the_decision_does_not_come_back" in printed
    assert "(calls read_email) is made in 0 of 16 reruns: no more than 0.5" in printed
    assert "For example, in its place: I cannot help." in printed


def test_a_measured_fix_brings_the_decisions_that_it_was_seen_to_keep(run, tmp_path):
    report = runtape.fix(run, DECISION, model=agent)
    [best] = [candidate for candidate in report.candidates if candidate.name == report.best]

    by_candidate = write(run, fix=best)
    by_name = write(run, "tests/test_named.py", fix=report.best)
    alone = write(run, "tests/test_alone.py", fix=report.best, controls=[])

    for test in (by_candidate, by_name):
        assert "WANTED = [\n    (TRACE, 2),\n    (TRACE, 6),\n]\n" in test.read_text(encoding="utf-8")
    assert "WANTED" not in alone.read_text(encoding="utf-8")
    assert "7 passed" in session(tmp_path / "tests")


def test_controls_that_are_changed_otherwise_are_told_apart(run, tmp_path):
    test = write(run, fix={"name": "x", "add_system": RULE, "clean": PLANTED}, controls=["2", "6"])

    source = test.read_text(encoding="utf-8")
    assert "WANTED = [\n    (TRACE, 2),\n]\n" in source
    assert "WANTED_2 = [\n    (TRACE, 6),\n]\n" in source
    assert source.count("        clean=CLEAN,\n") == 2
    assert source.count("        add_system=ADD_SYSTEM,\n") == 3
    assert "3 passed" in session(tmp_path / "tests")


GUARDS = """
def check(call, request):
    said = " ".join(str(m["content"]) for m in request["messages"] if m["role"] == "user")
    return call["name"] != "forward_email" or call["arguments"]["to"] in said

def everything(call, request):
    return True

def nothing(call, request):
    return False

def broken(call, request):
    return call["recipient"] == "me"

def vague(call, request):
    return "yes"
"""


def test_the_users_own_guard_is_what_is_tested(run, tmp_path):
    for guard in ("check", "everything", "nothing", "broken", "vague"):
        test = write(run, f"tests/test_{guard}.py", guard_with=f"my_guards:{guard}", controls=["2"])
        assert f"guard=my_guards.{guard}," in test.read_text(encoding="utf-8")
    (tmp_path / "tests" / "my_guards.py").write_text(GUARDS, encoding="utf-8")

    printed = session(tmp_path / "tests")

    decision, wanted = "test_the_decision_does_not_come_back", "test_what_was_wanted_is_still_done[trace0-2]"
    outcomes = {
        ("check", decision): "PASSED",
        ("check", wanted): "PASSED",
        ("everything", decision): "FAILED",
        ("everything", wanted): "PASSED",
        ("nothing", decision): "PASSED",
        ("nothing", wanted): "FAILED",
        **dict.fromkeys([(guard, name) for guard in ("broken", "vague") for name in (decision, wanted)], "FAILED"),
    }
    for (guard, name), outcome in outcomes.items():
        assert f"{outcome} test_{guard}.py::{name}" in printed
    assert "calls 'forward_email' in 3 of 3 reruns" in printed
    assert "calls read_email, which is blocked by the guard" in printed
    assert "The guard function 'broken' raised KeyError: 'recipient'" in printed
    assert "The guard function 'vague' returned a value of type str" in printed


def test_a_guard_function_is_a_candidate_and_a_rerun_shows_what_it_holds_back(run):
    def only_inside(call: dict[str, Any], request: dict[str, Any]) -> bool:
        del request
        return str(call["arguments"].get("to", "")).endswith("@ours.example") or call["name"] != "forward_email"

    report = runtape.fix(run, DECISION, model=agent, candidates=[{"name": "inside", "guard": only_inside}])
    seen = runtape.rerun(run, DECISION, model=agent, guard=only_inside)

    [inside] = [candidate for candidate in report.candidates if candidate.name == "inside"]
    assert (inside.verdict, inside.kept, inside.n) == ("PASS", 0, 10)
    assert inside.edit.startswith("let your function")
    assert {form.outcome for form in inside.forms} == {"held"}
    assert seen.never_calls("forward_email").actions == [("calls forward_email, which is blocked by the guard", 10)]
    assert runtape.rerun(run, DECISION, model=agent, guard="forward_email.to").never_repeats().tally.kept == 0
    with pytest.raises(BadInput, match="raised ValueError"):
        runtape.fix(
            run, DECISION, model=agent, candidates=[{"name": "bad", "guard": lambda call, _: int(call["name"]) > 0}]
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"controls": [DECISION], **FIXED}, "is the decision that must not come back"),
        ({"controls": ["2"], "fix": {"name": "x", "clean": PLANTED}}, "alters nothing that is sent for the control"),
        ({"controls": ["x"], **FIXED}, "neither EVENT nor TRACE:EVENT"),
        ({"guard_with": "my_guards"}, "guard_with 'my_guards' is not module:name"),
    ],
)
def test_a_control_or_guard_that_is_none_is_refused_and_nothing_is_left(run, tmp_path, options, message):
    with pytest.raises(BadInput, match=message):
        write(run, **options)
    assert list(tmp_path.rglob("test_*")) == []


def test_a_trace_beside_the_test_is_never_replaced(run, tmp_path):
    other = record_run(tmp_path / "elsewhere" / "other.jsonl")
    taken = tmp_path / "tests" / "test_inbox.wanted1.jsonl"
    taken.parent.mkdir()
    taken.write_text("mine", encoding="utf-8")

    with pytest.raises(PathRefused, match=r"test_inbox\.wanted1\.jsonl"):
        write(run, controls=[(other, 2)], **FIXED)
    assert [path.name for path in taken.parent.iterdir()] == [taken.name]
    assert taken.read_text(encoding="utf-8") == "mine"
