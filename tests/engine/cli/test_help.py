"""What `--help` says is true: the list of commands, and the example of each, which is run here."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command

from runtape.cli.commands import COMMANDS, loaded
from runtape.cli.main import app, run

EXAMPLES = Path(__file__).parents[3] / "examples"
RUN_BELOW = ("proxy",)
ASKS_A_MODEL = ("why", "odds", "rerun", "fix", "test")

SPAN = {  # as OpenTelemetry's console exporter prints one
    "name": "chat m",
    "context": {"trace_id": "0x1", "span_id": "0x2"},
    "parent_id": None,
    "start_time": "2025-01-01T00:00:00.000000Z",
    "end_time": "2025-01-01T00:00:01.000000Z",
    "attributes": {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text", "content": "Hello."}]}]',
        "gen_ai.output.messages": '[{"role": "assistant", "parts": [{"type": "text", "content": "Hi."}]}]',
    },
}


def leaves() -> Iterator[tuple[str, ...]]:
    """Every command line that is no group of others."""
    for name in COMMANDS:
        below = getattr(loaded(name), "commands", None)
        yield from [(name, inner) for inner in below] if below else [(name,)]


def help_of(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    assert run([*command, "--help"]) == 0
    return " ".join(capsys.readouterr().out.split())


def example_of(command: tuple[str, ...]) -> list[str]:
    found = loaded(command[0])
    for name in command[1:]:
        found = found.commands[name]
    [example] = re.findall(r"^Example: runtape (.+)$", found.help, re.MULTILINE)
    return shlex.split(example)


def test_the_list_shows_each_command_with_the_first_line_of_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    listed = help_of(capsys)
    for name, shown in COMMANDS.items():
        assert loaded(name).help.splitlines()[0] == shown.line
        assert f"{name} {shown.line}" in listed


def test_the_list_loads_no_command_and_nothing_heavy() -> None:
    code = "import sys; from runtape.cli.main import run; run(['--help']); print(sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for module in ("runtape.cli.why", "runtape.record", "runtape.trace", "numpy", "rich.console", "mcp", "openai"):
        assert f"'{module}'" not in done.stderr


def test_a_misspelled_command_is_told_the_near_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["timline", "last"]) == 2
    assert "'timeline'" in capsys.readouterr().err


def test_the_names_are_completed() -> None:
    shell = {"_TYPER_COMPLETE_ARGS": "runtape ti", "_RUNTAPE_COMPLETE": "complete_bash", "COMP_WORDS": "runtape ti"}
    program = Path(sys.executable).with_name("runtape")
    done = subprocess.run(
        [program], env={**os.environ, **shell, "COMP_CWORD": "1"}, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["timeline"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an agent, and a file of spans."""
    folder = tmp_path_factory.mktemp("examples")
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
    shutil.copy(folder / "inbox_agent.py", folder / "my_agent.py")
    (folder / "spans.jsonl").write_text(json.dumps(SPAN) + "\n", encoding="utf-8")
    subprocess.run([sys.executable, "my_agent.py"], cwd=folder, check=True, capture_output=True)
    shutil.copytree(folder / "traces", folder / "recorded")
    return folder


@pytest.mark.parametrize("command", [leaf for leaf in leaves() if leaf[0] not in RUN_BELOW], ids=" ".join)
def test_the_example_of_a_command_works_as_it_stands(folder: Path, command: tuple[str, ...]) -> None:
    shutil.rmtree(folder / "traces")  # where others leave runs that would be the last ones
    shutil.copytree(folder / "recorded", folder / "traces")
    line = example_of(command)
    assert tuple(line[: len(command)]) == command
    if command[0] in ASKS_A_MODEL:
        line += ["--model-fn", "stand_ins.py:inbox"]
    if command == ("test",):
        (folder / "tests" / "test_inbox.py").unlink(missing_ok=True)  # that of `fix`; one is never overwritten
        (folder / "tests" / "test_inbox.jsonl").unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "runtape.cli", *line], cwd=folder, input="", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout or done.stderr


def test_the_example_of_the_proxy_works_as_it_stands_but_for_the_port() -> None:
    *line, _ = example_of(("proxy",))
    with subprocess.Popen(
        [sys.executable, "-m", "runtape.cli", *line, "0"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("listening on http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.wait(20) in {0, 130}  # 130: interrupted while it still started


def test_every_name_of_the_list_is_a_command_of_the_program() -> None:
    group = get_command(app)
    assert list(group.list_commands(None)) == list(COMMANDS)  # type: ignore[attr-defined, arg-type]
    assert group.get_command(None, "nothing") is None  # type: ignore[attr-defined, arg-type]
