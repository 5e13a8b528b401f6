"""What the README says is what the project does."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from runtape.cli.commands import COMMANDS
from runtape_mcp.server import TOOLS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def fenced(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_report_in_the_readme_is_what_the_example_prints(tmp_path: Path) -> None:
    def run(*command: str) -> str:
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    run(sys.executable, str(ROOT / "examples" / "inbox_agent.py"))
    model = f"{ROOT / 'examples' / 'stand_ins.py'}:inbox"
    printed = run(sys.executable, "-m", "runtape.cli", "why", "last", "tool:forward_email", "--model-fn", model)
    [report] = fenced("text")
    assert report.strip() in printed


def test_the_measured_table_is_the_one_that_the_benchmark_wrote() -> None:
    table = (ROOT / "bench" / "results" / "beside.md").read_text(encoding="utf-8").strip()
    assert table in README


def test_the_tool_table_names_every_tool_and_no_other() -> None:
    section = README.split("## Tools of the server")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == [tool.name for tool in TOOLS]


def test_every_command_in_the_readme_exists() -> None:
    named = set(re.findall(r"^    runtape (\w+)", README, re.MULTILINE))
    assert named
    assert named <= set(COMMANDS)


@pytest.mark.parametrize("snippet", fenced("python"))
def test_the_python_in_the_readme_compiles(snippet: str) -> None:
    compile(snippet, "README.md", "exec")


@pytest.mark.parametrize("snippet", fenced("json"))
def test_the_client_settings_are_json(snippet: str) -> None:
    assert "runtape-mcp" in json.dumps(json.loads(snippet))


def test_the_files_that_the_readme_links_to_exist() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert target.startswith("https://") or (ROOT / target).exists(), target
