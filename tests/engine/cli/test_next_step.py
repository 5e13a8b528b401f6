"""What to do next, in the language of the door that one came through: it can be pasted there as it stands."""

from __future__ import annotations

import ast
import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import runtape
from runtape.cli.main import run

EXAMPLES = Path(__file__).parents[3] / "examples"
CALLED = "tool:forward_email"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one recorded run."""
    folder = tmp_path_factory.mktemp("inbox")
    subprocess.run([sys.executable, EXAMPLES / "inbox_agent.py"], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def trace(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The path of that run in a folder that takes quoting."""
    folder = tmp_path / "my agent's runs $HOME"
    shutil.copytree(recorded, folder)
    shutil.copy(EXAMPLES / "stand_ins.py", folder / "the model.py")
    monkeypatch.chdir(folder)
    [path] = (folder / "traces").iterdir()
    return str(path.rename(path.with_name("it's a run.jsonl")))


def pasted(said: str) -> list[str]:
    """The words of the command that a report ends with, as a shell reads them."""
    *_, line = said.rstrip().splitlines()
    assert line.startswith("    runtape ")
    shown = subprocess.run(
        ["/bin/sh", "-c", f"runtape() {{ printf '%s\\0' \"$@\"; }}\n{line}"], check=True, capture_output=True, text=True
    )
    return shown.stdout.split("\0")[:-1]


SELECTING = ["--where", "to != 'nobody' and id > 1", "--tool", "forward_email", "--model-fn", "the model.py:inbox"]


def test_commands_lead_from_why_over_fix_to_a_test(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", trace, CALLED, *SELECTING, "--precise", "--runs", "3"]) == 0
    fix = pasted(capsys.readouterr().out)
    assert fix[:3] == ["fix", trace, CALLED]
    assert {*zip(fix[3::2], fix[4::2], strict=True)} == {*zip(SELECTING[::2], SELECTING[1::2], strict=True)}
    assert run([*fix, "--runs", "8", "--control", "2"]) == 0
    test = pasted(capsys.readouterr().out)
    assert test[:3] == ["fix", trace, CALLED]
    assert {"--runs", "8", "--control", "2", "--write-test", "tests/test_regression.py"} < {*test}
    assert run(test) == 0
    last = capsys.readouterr()
    assert "no model call: all " in last.err  # the fix is measured already
    assert "runtape fix" not in last.out
    assert Path("tests/test_regression.py").exists()


def test_what_ended_early_goes_on_with_the_same_flags_and_more_budget(
    trace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for verb, more in (
        ("why", ["--fast"]),
        ("fix", ["--variant", "Thank you."]),
        ("odds", []),
        ("rerun", ["--mark", "delimiters"]),
    ):
        capsys.readouterr()
        assert run([verb, trace, CALLED, *SELECTING, *more, "--budget", "7", "--no-cache"]) == 3
        said = pasted(capsys.readouterr().out)
        assert said[:3] == [verb, trace, CALLED]
        assert {*more, *SELECTING, "--no-cache"} < {*said}
        assert said[said.index("--budget") + 1] == "14"


def test_every_report_ends_with_a_command_that_is_one(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.py").write_text(
        "def stays(request):\n    return {'tool_calls': [{'name': 'list_inbox', 'arguments': {}}]}\n"
    )
    for line in (
        ["why", "last", CALLED, "--model-fn", "other.py:stays"],
        ["why", "last", "tool:list_inbox", "--model-fn", "other.py:stays"],
        ["why", "last", CALLED, "--dry"],
        ["odds", "last", CALLED, *SELECTING],
    ):
        run(line)
        command = pasted(capsys.readouterr().out)
        assert command[1] != "last"  # another run may be that when it is pasted
        assert run([command[0], *command[1:], "--model-fn", "other.py:stays", "--budget", "60"]) in {0, 1, 3}
    capsys.readouterr()
    assert run(["odds", "last", CALLED, "--json", *SELECTING]) == 0
    step = json.loads(capsys.readouterr().out)["next"]
    assert shlex.split(step.partition(": ")[2])[:2] == ["runtape", "why"]


def test_the_library_spells_calls_of_its_own(trace: str) -> None:
    model = f"{Path.cwd()}/the model.py:inbox"
    report = runtape.why(trace, CALLED, model=model, where="id > 1", depth="full")
    *_, call = str(report).rstrip().splitlines()
    [statement] = ast.parse(call.strip()).body
    assert isinstance(statement, ast.Expr)
    assert ast.unparse(statement) == f"runtape.fix({trace!r}, {report.event}, model={model!r}, where='id > 1')"
    measured = runtape.fix(report.trace, report.event, model=model, where="id > 1", budget=9)
    assert str(measured).rstrip().endswith(f"model={model!r}, where='id > 1', budget=18)")
