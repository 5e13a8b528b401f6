"""The tests that are written for the three example agents, run by pytest in one session."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import runtape
from runtape.report.results import FixReport

EXAMPLES = Path(__file__).parent.parent / "examples"
AGENTS = {
    "inbox": ("inbox_agent.py", "forward_email"),
    "refund": ("refund_bot.py", "issue_refund"),
    "ops": ("ops_agent.py", "drop_database"),
}
DECISION, WANTED = "test_the_decision_does_not_come_back", "test_what_was_wanted_is_still_done"
NOWHERE = "http://127.0.0.1:9/v1"
"""Nothing listens on the discard port."""


def ran(*command: str, cwd: Path) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("RUNTAPE_", "PYTEST_"))}
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=200
    ).stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the written tests of the examples, and the prompts of their agents with and without the rule."""
    folder = tmp_path_factory.mktemp("project")
    for name, (script, tool) in AGENTS.items():
        ran(str(EXAMPLES / script), cwd=folder)
        [trace] = (folder / "traces").glob(f"{name}-*.jsonl")
        recorded = runtape.load(trace)
        event, model = f"tool:{tool}", f"{EXAMPLES / 'stand_ins.py'}:{name}"
        report = runtape.fix(trace, event, model=model, cache_dir=folder / ".runtape")
        (folder / f"{name}.json").write_text(json.dumps(summary(report)), encoding="utf-8")
        [best] = [candidate for candidate in report.candidates if candidate.name == report.best]
        messages: Any = recorded.request(recorded.calls[0].request).body["messages"]
        system = messages[0]["content"]
        for module, text in (("kept", f"{system}\n\n{best.edit}"), ("lost", system)):
            (folder / f"{module}_{name}.py").write_text(f"SYSTEM = {text!r}\n", encoding="utf-8")
        wanted = best.wanted[:1]
        tests: dict[str, dict[str, Any]] = {
            "fixed": {"fix": best, "controls": wanted},
            "open": {},
            "kept": {"system_from": f"kept_{name}:SYSTEM", "controls": wanted},
            "lost": {"system_from": f"lost_{name}:SYSTEM", "controls": wanted},
        }
        for test, options in tests.items():
            runtape.write_test(trace, event, folder / f"test_{name}_{test}.py", model=model, runs=3, **options)
        runtape.write_test(trace, event, folder / f"test_{name}_down.py", base_url=NOWHERE, add_system=best.edit)
    return folder


def summary(report: FixReport) -> dict[str, list[str | int]]:
    return {
        candidate.name: [
            candidate.verdict,
            *candidate.controls,
            sum(form.outcome == "held" for form in candidate.forms),
        ]
        for candidate in report.candidates
    }


@pytest.fixture(scope="module")
def outcomes(project: Path) -> dict[tuple[str, str], str]:
    """By file and function, `passed` or why not."""
    ran("-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "4", "--junit-xml", "report.xml", ".", cwd=project)
    found: dict[tuple[str, str], str] = {}
    for case in ET.parse(project / "report.xml").iter("testcase"):
        failure = case.find("failure")
        file, function = case.get("classname", ""), case.get("name", "").partition("[")[0]
        found[file, function] = "passed" if failure is None else failure.get("message", "")
    return found


@pytest.mark.parametrize("name", AGENTS)
def test_the_fix_table_of_each_example_has_a_rule_that_holds_with_the_controls_and_in_every_form(
    project: Path, name: str
) -> None:
    table = json.loads((project / f"{name}.json").read_text(encoding="utf-8"))
    verdict, kept, controls, held = table["action-guard"]
    assert (verdict, held) == ("PASS", 3)
    assert kept == controls >= 28
    assert set(table) == {"untrusted-content", "action-guard", "both", "source-removed"}


@pytest.mark.parametrize("name", AGENTS)
def test_the_written_test_of_each_example_passes_with_the_fix_only_and_never_without_a_server(
    outcomes: dict[tuple[str, str], str], name: str
) -> None:
    assert outcomes[f"test_{name}_fixed", DECISION] == "passed"
    assert outcomes[f"test_{name}_fixed", WANTED] == "passed"
    assert outcomes[f"test_{name}_open", DECISION].startswith("AssertionError: The agent calls")
    assert f"no answer from {NOWHERE}" in outcomes[f"test_{name}_down", DECISION]


@pytest.mark.parametrize("name", AGENTS)
def test_the_written_test_fails_when_the_agents_own_prompt_loses_the_rule(
    outcomes: dict[tuple[str, str], str], name: str
) -> None:
    assert outcomes[f"test_{name}_kept", DECISION] == "passed"
    assert outcomes[f"test_{name}_lost", DECISION].startswith("AssertionError: The agent calls")
    assert outcomes[f"test_{name}_kept", WANTED] == outcomes[f"test_{name}_lost", WANTED] == "passed"
