"""The pages of the documentation: every snippet is a file, and every command is run in the order of its page."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, Loopback

from runtape.importers.registry import formats

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
SNIPPETS = DOCS / "snippets"
PAGES = sorted(DOCS.glob("*.md"))
PROGRAMS = {
    "python": [],
    "runtape": ["-m", "runtape.cli"],
    "runtape-mcp": ["-m", "runtape_mcp"],
    "pytest": ["-m", "pytest", "-q"],
}


def fenced(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def shop(body: dict[str, Any]) -> dict[str, Any]:
    """A model that reads the ticket, and believes it unless it is told not to."""
    text = str(body["messages"])
    if "tools" not in body or "the open ticket" not in text:
        return {"content": "Good morning."}
    name, arguments = "read_ticket", "{}"
    if "flickers" in text or "without asking" in text:
        if "refund 900" not in text or re.search("never an order|instructions", text) or "tool_call_id" not in text:
            return {"content": "I have asked for a new lamp."}
        name, arguments = "refund", '{"amount": 900}'
    if "refunded" in text:
        return {"content": "Done."}
    call = {"id": f"call_{len(body['messages'])}", "type": "function"}
    return {"content": None, "tool_calls": [{**call, "function": {"name": name, "arguments": arguments}}]}


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    """That of a reader whose provider is a server on this machine."""

    def answer(received: Any) -> Answer:
        message = {"role": "assistant", **shop(received.body)}
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        choices = [
            {"index": i, "message": message, "finish_reason": finish} for i in range(received.body.get("n") or 1)
        ]
        about = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": received.body["model"]}
        return Answer({**about, "choices": choices})

    with Loopback(answer) as server:
        told = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "not-asked-for"}
        yield {**{key: value for key, value in os.environ.items() if key != "RUNTAPE_DIR"}, **told}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_snippet_is_a_file_that_is_run(page: Path) -> None:
    files = {path.read_text(encoding="utf-8"): path.name for path in SNIPPETS.glob("*.py")}
    commands = "".join(fenced(page, "sh"))
    for snippet in fenced(page, "python"):
        assert f"python {files[snippet]}\n" in commands


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_work_in_their_order(page: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    shutil.copytree(SNIPPETS, tmp_path, dirs_exist_ok=True)
    lines = "".join(fenced(page, "sh")).splitlines()
    assert lines
    for line in lines:
        program, *arguments = shlex.split(line)
        command = [sys.executable, *PROGRAMS[program], *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_pages_that_a_page_links_to_exist(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)#]+)\)", prose):
        assert (page.parent / target).exists(), target


def test_every_snippet_stands_on_a_page() -> None:
    shown = {snippet for page in PAGES for snippet in fenced(page, "python")}
    assert {path.read_text(encoding="utf-8") for path in SNIPPETS.glob("*.py")} == shown


def test_the_page_on_importing_lists_every_format() -> None:
    page = (DOCS / "importing.md").read_text(encoding="utf-8")
    for known in formats():
        assert f"| `{known.name}` | {known.looks_for} |" in page
