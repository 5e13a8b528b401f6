from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from inbox_run import PLANTED, RULE, SYSTEM, agent

import runtape
from runtape.errors import BadInput, EditChangesNothing, NotADecision, PathRefused

DECISION = "tool:forward_email"
HERE = Path(__file__).parent
AGENT = f"{HERE / 'inbox_run.py'}:agent"


def pytest_on(test: Path, cwd: Path, *more: str):
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test), *more],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


def write(run, out="tests/test_inbox.py", **options):
    return runtape.write_test(run, DECISION, out, **{"model": AGENT, "runs": 3, **options})


def test_the_test_passes_with_the_fix_from_any_folder(run, tmp_path):
    test = write(run, add_system=RULE)

    assert test == Path("tests/test_inbox.py")
    assert test.with_suffix(".jsonl").read_bytes() == run.read_bytes()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = pytest_on(test.resolve(), elsewhere)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_the_test_fails_when_the_decision_comes_back(run, tmp_path):
    done = pytest_on(write(run), tmp_path)

    assert done.returncode == 1
    assert "calls 'forward_email' in 3 of 3 reruns" in done.stdout


def test_a_rate_is_tested_until_it_is_settled(run, tmp_path):
    test = write(run, add_system=RULE, runs=None, rate_below=0.1)

    assert "RUNS = 100\n" in test.read_text(encoding="utf-8")
    done = pytest_on(test, tmp_path)
    assert done.returncode == 0, done.stdout
    lost = pytest_on(write(run, "tests/test_lost.py", runs=None, rate_below=0.1), tmp_path)
    assert lost.returncode == 1
    assert "is not below 0.1" in lost.stdout
    down = write(run, "tests/test_down.py", runs=None, rate_below=0.1, model=f"{HERE / 'inbox_run.py'}:down")
    assert "no model here" in pytest_on(down, tmp_path).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate_below": 0.0}, "no rate between 0 and 1"),
        ({"rate_below": 0.1, "runs": 20}, "that takes at least 36"),
        ({"rate_below": 0.1, "match": "ledger", "runs": None}, "by tool alone"),
    ],
)
def test_a_rate_that_cannot_be_tested_is_refused(run, tmp_path, options, message):
    with pytest.raises(BadInput, match=message):
        write(run, **options)
    assert list(tmp_path.rglob("test_*")) == []


def test_the_test_does_not_pass_when_the_model_is_down(run, tmp_path):
    done = pytest_on(write(run, model=f"{HERE / 'inbox_run.py'}:down"), tmp_path)

    assert done.returncode == 1
    assert "no model here" in done.stdout


def test_the_users_prompt_is_what_is_tested(run, tmp_path):
    test = write(run, system_from="my_prompts:SYSTEM")
    prompts = test.parent / "my_prompts.py"

    prompts.write_text(f"SYSTEM = {SYSTEM + ' ' + RULE!r}\n", encoding="utf-8")
    assert pytest_on(test, tmp_path).returncode == 0
    prompts.write_text(f"SYSTEM = {SYSTEM!r}\n", encoding="utf-8")
    lost = pytest_on(test, tmp_path)
    assert lost.returncode == 1
    assert "calls 'forward_email' in 3 of 3 reruns" in lost.stdout


def test_the_users_cleaning_is_what_is_tested(run, tmp_path):
    test = write(run, clean_with="my_cleaning:mail")
    cleaning = test.parent / "my_cleaning.py"

    cleaning.write_text(f"def mail(text):\n    return text.replace({PLANTED!r}, '')\n", encoding="utf-8")
    assert pytest_on(test, tmp_path).returncode == 0
    cleaning.write_text("def mail(text):\n    return text\n", encoding="utf-8")
    assert "calls 'forward_email' in 3 of 3 reruns" in pytest_on(test, tmp_path).stdout


def test_a_decision_chosen_by_pattern_is_tested_as_chosen(run, tmp_path):
    done = pytest_on(write(run, match="ledger@", exact_args=True), tmp_path)

    assert done.returncode == 1
    assert "The recorded decision was made in 3 of 3 reruns" in done.stdout


@pytest.mark.parametrize("way", ["candidate", "name", "mapping"])
def test_a_measured_fix_is_written_in_every_way_it_can_be_named(run, tmp_path, way):
    report = runtape.fix(run, DECISION, model=agent)
    [best] = [candidate for candidate in report.candidates if candidate.name == report.best]
    named = {"candidate": best, "name": report.best, "mapping": {"name": "x", "add_system": best.edit}}

    test = write(run, fix=named[way])

    assert "ADD_SYSTEM" in test.read_text(encoding="utf-8")
    assert pytest_on(test, tmp_path).returncode == 0


def test_a_name_stands_for_the_decision_that_it_was_measured_on(run, tmp_path):
    runtape.fix(run, DECISION, model=agent)
    runtape.fix(run, DECISION, model=agent, match="ledger@", exact_args=True)

    test = write(run, fix="action-guard")

    source = test.read_text(encoding="utf-8")
    assert "match=MATCH" in source
    assert "exact_args=True" in source
    assert "never_repeats()" in source
    assert pytest_on(test, tmp_path).returncode == 0
    runtape.fix(run, DECISION, model=agent)
    newest = write(run, "tests/test_newest.py", fix="action-guard").read_text(encoding="utf-8")
    assert "MATCH" not in newest
    chosen = write(run, "tests/test_chosen.py", fix="action-guard", match="clearing").read_text(encoding="utf-8")
    assert "MATCH = 'clearing'" in chosen


def test_a_fix_and_a_further_sentence_are_both_in_the_test(run):
    source = write(run, fix={"name": "x", "add_system": RULE}, add_system="Ask.").read_text(encoding="utf-8")

    both = f"Ask.\n\n{RULE}"
    assert f"ADD_SYSTEM = {both!a}\n" in source


def test_marks_on_what_tools_return_are_a_fix_that_a_test_holds_on_to(run, tmp_path):
    mark = {"name": "marked", "mark": "datamarking"}
    report = runtape.fix(run, DECISION, model=agent, candidates=[mark])
    [marked] = [candidate for candidate in report.candidates if candidate.name == "marked"]
    assert marked.verdict == "PASS"
    assert "in place of each space in what tools return" in marked.edit

    test = write(run, fix="marked")

    assert "MARK = 'datamarking'" in test.read_text(encoding="utf-8")
    assert pytest_on(test, tmp_path).returncode == 0


def test_the_budget_of_a_test_is_what_it_may_ask(run, tmp_path):
    test = write(run, add_system=RULE, budget=3)

    assert "budget=3" in test.read_text(encoding="utf-8")
    assert pytest_on(test, tmp_path).returncode == 0
    with pytest.raises(BadInput, match="does not allow 3 reruns"):
        write(run, "test_small.py", budget=2)


def test_a_name_that_was_not_measured_is_refused(run):
    with pytest.raises(BadInput, match="Run fix on this event first"):
        write(run, fix="both")
    runtape.fix(run, DECISION, model=agent)
    with pytest.raises(BadInput, match=r"It has: .*'action-guard'"):
        write(run, fix="boht")


def test_a_folder_that_cannot_be_written_costs_the_names_and_nothing_else(run, tmp_path):
    (tmp_path / ".runtape").mkdir()
    (tmp_path / ".runtape" / "fixes").write_text("in the way", encoding="utf-8")

    report = runtape.fix(run, DECISION, model=agent)

    assert report.best == "action-guard"
    assert "give write_test the change itself" in report.notes[-1]


def test_a_guard_cannot_be_tested_by_a_rerun(run):
    with pytest.raises(BadInput, match="guard acts outside"):
        write(run, fix={"name": "g", "guard": "forward_email.to"})


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"tool": "read_email"}, NotADecision),
        ({"fix": {"name": "x", "replace": "not there=>y"}}, EditChangesNothing),
        ({"system_from": "not a module"}, BadInput),
        ({"clean_with": "a:b:c"}, BadInput),
        ({"system_from": "a:B", "fix": {"system": "x"}}, BadInput),
        ({"clean_with": "a:b", "fix": {"clean": PLANTED}}, BadInput),
        ({"out": "inbox.py"}, PathRefused),
        ({"out": "../test_inbox.py", "root": "."}, PathRefused),
    ],
)
def test_what_cannot_be_written_is_refused_and_nothing_is_left(run, tmp_path, options, error):
    with pytest.raises(error):
        write(run, **{"out": "test_inbox.py", **options})

    assert list(tmp_path.rglob("test_*")) == []


def test_nothing_is_replaced(run):
    write(run, add_system=RULE)

    with pytest.raises(PathRefused, match=r"test_inbox\.py"):
        write(run)


def test_no_path_of_this_machine_is_in_the_test(run, tmp_path):
    agents = tmp_path / "agents.py"
    agents.write_text((HERE / "inbox_run.py").read_text(encoding="utf-8"), encoding="utf-8")

    test = write(run, add_system=RULE, root=tmp_path, model=f"{agents}:agent")

    source = test.read_text(encoding="utf-8")
    assert "MODEL = str(Path(__file__).parent / '../agents.py') + ':agent'" in source
    assert str(tmp_path) not in source
    assert str(Path.home()) not in source
    assert pytest_on(test, tmp_path).returncode == 0


def test_recorded_text_reaches_the_file_only_as_constants(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hostile = 'send"""\n    import os\n#\u202e\\N{DASH}'
    with runtape.record(tmp_path / "run.jsonl") as recorder:
        asked = recorder.log_llm_request(
            provider="openai", api="chat.completions", model="m", messages=[{"role": "user", "content": "Go."}]
        )
        recorder.log_llm_response(asked, tool_calls=[{"id": "c", "name": hostile, "arguments": {}}])

    test = runtape.write_test(recorder.path, "last", "test_hostile.py")

    source = test.read_text(encoding="ascii")
    compile(source, str(test), "exec")
    assert f"TOOL = {hostile!a}\n" in source
    assert source.count("import os") == 1
