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
from pathlib import Path

import pytest
from typer.main import get_command

from runtape.cli.commands import COMMANDS, loaded
from runtape.cli.main import app, run
from runtape.cli.manual import filled, found, leaves

EXAMPLES = Path(__file__).parents[3] / "examples"
RUN_BELOW = ("proxy",)
ASKS_A_MODEL = ("why", "odds", "rerun", "fix", "test")
WRITES = {
    ("fix",): ("tests/test_inbox.py", "tests/test_inbox.jsonl"),
    ("test",): ("tests/test_inbox.py", "tests/test_inbox.jsonl"),
    ("cache", "export"): ("replies.jsonl",),
}

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


def listed_by(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    assert run([*command, "--help"]) == 0
    return " ".join(capsys.readouterr().out.split())


def example_of(command: tuple[str, ...]) -> list[str]:
    [example] = re.findall(r"^Example: runtape (.+)$", found(command).help, re.MULTILINE)
    return shlex.split(example)


def test_the_list_shows_each_command_with_the_first_line_of_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    listed = listed_by(capsys)
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


@pytest.mark.parametrize(
    ("shell", "line", "completed"),
    [
        ("bash", "runtape ti", ["timeline"]),
        ("bash", "runtape why last --bas", ["--base-url"]),
        ("bash", "runtape show in", ["inbox-1", "inbox-2"]),
        ("zsh", "runtape browse la", ["last"]),
        ("fish", "runtape cache pr", ["prune"]),
    ],
)
def test_commands_options_and_traces_are_completed(tmp_path: Path, shell: str, line: str, completed: list[str]) -> None:
    for name in ("inbox-1", "inbox-2", "other"):
        (tmp_path / f"{name}.jsonl").write_text("{}\n")
    asked = {
        "_RUNTAPE_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split()) - 1),
        "RUNTAPE_DIR": str(tmp_path),
    }
    program = Path(sys.executable).with_name("runtape")
    done = subprocess.run([program], env={**os.environ, **asked}, capture_output=True, text=True, check=False)
    for name in completed:
        assert name in done.stdout
    assert "other" not in done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an agent, a file of spans, and replies that were paid for, exported too."""
    folder = tmp_path_factory.mktemp("examples")
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
    shutil.copy(folder / "inbox_agent.py", folder / "my_agent.py")
    (folder / "spans.jsonl").write_text(json.dumps(SPAN) + "\n", encoding="utf-8")
    subprocess.run([sys.executable, "my_agent.py"], cwd=folder, check=True, capture_output=True)
    shutil.copytree(folder / "traces", folder / "recorded")
    paid = ["why", "last", "tool:forward_email", "--model-fn", "stand_ins.py:inbox"]
    for line in (paid, ["cache", "export", "replies.jsonl"]):
        subprocess.run([sys.executable, "-m", "runtape.cli", *line], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("command", [leaf for leaf in leaves() if leaf[0] not in RUN_BELOW], ids=" ".join)
def test_the_example_of_a_command_works_as_it_stands(folder: Path, command: tuple[str, ...]) -> None:
    shutil.rmtree(folder / "traces")  # where others leave runs that would be the last ones
    shutil.copytree(folder / "recorded", folder / "traces")
    line = example_of(command)
    assert tuple(line[: len(command)]) == command
    if command[0] in ASKS_A_MODEL:
        line += ["--model-fn", "stand_ins.py:inbox"]
    for new in WRITES.get(command, ()):
        (folder / new).unlink(missing_ok=True)  # that of another example; none is ever overwritten
    done = subprocess.run(
        [sys.executable, "-m", "runtape.cli", *line], cwd=folder, input="", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout or done.stderr


JSON_TOO = [leaf for leaf in leaves() if any("--json" in parameter.opts for parameter in found(leaf).params)]


def test_every_command_that_tells_something_tells_it_as_json_too() -> None:
    others = [leaf for leaf in leaves() if leaf not in JSON_TOO]
    assert others == [("demo",), ("view",), ("browse",), ("replay",), ("proxy",)]


def test_the_example_of_a_command_prints_one_json_object_when_asked(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    shutil.copytree(folder / "recorded", tmp_path / "traces")
    shutil.copy(folder / "spans.jsonl", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RUNTAPE_DIR", raising=False)
    for command in JSON_TOO:
        if command == ("test",):
            shutil.rmtree(tmp_path / "tests")
        line = [*example_of(command), *(["--model-fn", "stand_ins.py:inbox"] if command[0] in ASKS_A_MODEL else [])]
        assert run([*line, "--json"]) == 0, line
        printed = capsys.readouterr().out
        assert printed.count("\n") == 1
        assert isinstance(json.loads(printed), dict)
        shutil.rmtree(tmp_path / "traces")  # `import` leaves a run that would be the last one
        shutil.copytree(folder / "recorded", tmp_path / "traces")


def test_the_example_of_the_proxy_works_as_it_stands_but_for_the_port() -> None:
    *line, _ = example_of(("proxy",))
    with subprocess.Popen(
        [sys.executable, "-m", "runtape.cli", *line, "0"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        told = process.stdout.readline()
        assert told.startswith("listening on http://127.0.0.1:")
        address = told.split()[-1]
        assert int(address.rpartition(":")[2]), "nothing sticks to an address that is copied"
        assert [process.stdout.readline().split()[-1] for _ in range(3)][1:] == [
            f"OPENAI_BASE_URL={address}",
            f"ANTHROPIC_BASE_URL={address}",
        ]
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.wait(20) == 0, "Ctrl-C ends it from the moment on at which its address is known"


def test_every_name_of_the_list_is_a_command_of_the_program() -> None:
    group = get_command(app)
    assert list(group.list_commands(None)) == list(COMMANDS)  # type: ignore[attr-defined, arg-type]
    assert group.get_command(None, "nothing") is None  # type: ignore[attr-defined, arg-type]


def test_the_page_of_the_command_line_says_what_the_commands_say() -> None:
    page = (EXAMPLES.parent / "docs" / "cli.md").read_text(encoding="utf-8")
    assert filled(page) == page, "run python -m runtape.cli.manual"
