from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from mcp_traces import run, write
from mcp_wire import Wire, serving

HEAVY = ("openai", "anthropic", "scipy", "numpy")


def imported(err: bytes) -> set[str]:
    """Top-level packages in the report of `python -X importtime`."""
    return {name.split(b".")[0].decode() for name in re.findall(rb"\| +([\w.]+)$", err, re.MULTILINE)}


def test_initialize_is_answered_before_anything_heavy_is_imported(tmp_path: Path) -> None:
    with serving(["--traces", str(tmp_path)], python=["-X", "importtime"]) as wire:
        about = wire.initialize()["serverInfo"]
        assert about["name"] == "runtape"
        [icon] = about["icons"]
        assert icon["src"].startswith("data:image/svg+xml;base64,")  # no host fetches anything for it
        wire.answer(wire.send("tools/list"))
        wire.call("list_traces")
        wire.end_input()
        status, _, err = wire.finish()
    loaded = imported(err)
    assert "mcp" in loaded
    assert loaded.isdisjoint(HEAVY)
    assert status == 0


def test_the_server_ends_when_its_input_ends(tmp_path: Path) -> None:
    with serving(["--traces", str(tmp_path)]) as wire:
        wire.initialize()
        wire.end_input()
        status, out, err = wire.finish()
    assert (status, out, err) == (0, b"", b"")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_the_server_without_a_traceback(tmp_path: Path, number: signal.Signals, status: int) -> None:
    with serving(["--traces", str(tmp_path)]) as wire:
        wire.initialize()
        os.kill(wire.pid, number)
        assert wire.finish() == (status, b"", b"")


@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b"garbage\n",
        b"{}\n",
        b'{"jsonrpc": "2.0"}\n',
        b'{"jsonrpc": "1.0", "id": 1}\n',
        b"\xff\xfe\x00\n",
        b"[" * 5000 + b"\n",
    ],
)
def test_a_malformed_line_does_not_end_the_server(tmp_path: Path, line: bytes) -> None:
    with serving(["--traces", str(tmp_path)]) as wire:
        wire.initialize()
        wire.raw(line)
        assert wire.answer(wire.send("ping"))["result"] == {}


def test_the_version_is_printed_without_serving() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "runtape_mcp", "--version"], capture_output=True, text=True, check=True
    )
    assert re.fullmatch(r"runtape-mcp \d+\.\d+\.\d+\S*\n", done.stdout)


@pytest.mark.parametrize("arguments", [[], ["--version"], ["--check"]])
def test_it_does_not_start_beside_the_other_owner_of_the_import_name(tmp_path: Path, arguments: list[str]) -> None:
    other = tmp_path / "runtape-0.5.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: runtape\nVersion: 0.5.0\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "runtape_mcp", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "pip uninstall -y runtape runtape-mcp\n" in done.stderr
    assert "pip install runtape-mcp\n" in done.stderr


NOISY = """
import os, subprocess, sys
print("at import")
os.write(1, b"raw at import")

def model(request):
    print("in a call")
    sys.stdout.write("without a line end")
    sys.__stdout__.write("kept in a buffer")
    os.write(1, b"raw in a call")
    os.system("echo from a shell")
    subprocess.run([sys.executable, "-c", "print('from a child')"])
    return "nothing to do"
"""


def investigating(folder: Path, source: str) -> list[str]:
    """Arguments for a server whose model function has this source."""
    write(folder / "traces" / "run.jsonl", run())
    (folder / "noisy.py").write_text(source, encoding="utf-8")
    return ["--traces", str(folder / "traces"), "--model-fn", f"{folder / 'noisy.py'}:model"]


def ask_why(wire: Wire) -> None:
    wire.initialize()
    wire.send("tools/call", {"name": "why", "arguments": {"trace": "run", "event": 6}})


def test_nothing_that_user_code_prints_reaches_the_wire(tmp_path: Path) -> None:
    with serving(investigating(tmp_path, NOISY)) as wire:
        ask_why(wire)
        answer = next(message for message in wire.lines() if message.get("id") == 2)
        assert answer["result"]["structuredContent"]["status"] == "done"
        wire.end_input()
        status, out, err = wire.finish()
    assert (status, out) == (0, b"")
    for text in (b"at import", b"raw at import", b"in a call", b"from a shell", b"from a child"):
        assert text in err


CHILD = """
import subprocess

def model(request):
    subprocess.Popen(["sleep", "600"])
    return "nothing to do"
"""


@pytest.mark.skipif(not hasattr(os, "setpgid"), reason="process groups are a matter of POSIX")
@pytest.mark.parametrize(("end", "status"), [(None, 0), (signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_children_of_a_model_function_end_with_the_server(
    tmp_path: Path, end: signal.Signals | None, status: int
) -> None:
    with serving(investigating(tmp_path, CHILD)) as wire:
        ask_why(wire)
        wire.answer(2)
        if end is None:
            wire.end_input()
        else:
            os.kill(wire.pid, end)
        # Standard error is at its end only when every child that writes to it has ended: this would wait ten minutes.
        assert wire.finish()[0] == status


HANGING = """
import threading

def model(request):
    print("asked", flush=True)
    threading.Event().wait()
"""


def test_a_model_function_that_hangs_does_not_keep_the_server(tmp_path: Path) -> None:
    with serving(investigating(tmp_path, HANGING)) as wire:
        ask_why(wire)
        assert wire.process.stderr is not None
        assert wire.process.stderr.readline() == b"asked\n"
        wire.end_input()
        assert wire.finish()[0] == 0


LOADING = """
import threading

print("loading", flush=True)
threading.Event().wait()
"""


def test_pings_are_answered_while_the_model_function_loads_and_the_end_of_input_is_not_kept_waiting(
    tmp_path: Path,
) -> None:
    with serving(investigating(tmp_path, LOADING)) as wire:
        ask_why(wire)
        assert wire.process.stderr is not None
        assert wire.process.stderr.readline() == b"loading\n"
        assert wire.answer(wire.send("ping"))["result"] == {}
        wire.end_input()
        assert wire.finish()[0] == 0


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_during_the_imports_ends_the_server_without_a_traceback(
    tmp_path: Path, number: signal.Signals, status: int
) -> None:
    with serving(["--traces", str(tmp_path)], python=["-X", "importtime"]) as wire:
        assert wire.process.stderr is not None
        # The first line about the SDK comes long before the last one.
        while b" mcp." not in wire.process.stderr.readline():
            pass
        os.kill(wire.pid, number)
        ended, out, err = wire.finish()
    assert (ended, out) == (status, b"")
    assert b"Traceback" not in err
    assert b"runtape_mcp.server\n" not in err


def test_input_that_ends_before_the_server_has_started_ends_it(tmp_path: Path) -> None:
    with serving(["--traces", str(tmp_path)]) as wire:
        wire.end_input()
        assert wire.finish() == (0, b"", b"")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--base-url", "nonsense"], "'nonsense' is not an http or https address"),
        (["--base-url", "http://[::1"], "is not an http or https address"),
        (["--base-url", "http://127.0.0.1:1/v1"], "nothing answers at 127.0.0.1:1"),
        (["--model-fn", "nonsense"], "names no function"),
        (["--model-fn", "nonsense:f"], "No module named 'nonsense'"),
        (["--model-fn", "{}/nowhere.py:f"], "there is no file"),
        (["--model-fn", "{}/model.py:mdel"], "did you mean 'model'?"),
        (["--model-fn", "{}/broken.py:model"], "ZeroDivisionError"),
        (["--judge-fn", "{}/model.py:jugde"], "--judge-fn: "),
    ],
)
def test_check_says_in_one_line_what_cannot_work(tmp_path: Path, arguments: list[str], said: str) -> None:
    write(tmp_path / "run.jsonl", run())
    (tmp_path / "model.py").write_text("print('hello')\ndef model(request): ...\n", encoding="utf-8")
    (tmp_path / "broken.py").write_text("1 / 0\n", encoding="utf-8")
    given = [argument.format(tmp_path) for argument in arguments]
    done = subprocess.run(
        [sys.executable, "-m", "runtape_mcp", "--check", "--traces", str(tmp_path), *given],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    [line] = [line for line in done.stdout.splitlines() if line.startswith("missing")]
    assert said in line
    assert "hello" not in done.stdout


def test_check_tells_what_a_launch_would_serve(tmp_path: Path) -> None:
    def check(*arguments: str, **environment: str) -> tuple[int, str]:
        kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
        done = subprocess.run(
            [sys.executable, "-m", "runtape_mcp", "--check", *arguments],
            capture_output=True,
            text=True,
            check=False,
            env={**kept, **environment},
        )
        assert done.stderr == ""
        return done.returncode, done.stdout

    write(tmp_path / "traces" / "run.jsonl", run())
    status, told = check("--traces", str(tmp_path / "traces"), OPENAI_API_KEY="sk-secret-value")
    assert status == 0
    assert "(1 found)" in told
    assert "OPENAI_API_KEY is set, ANTHROPIC_API_KEY is not set" in told
    assert "secret-value" not in told
    status, told = check("--traces", str(tmp_path / "nowhere"))
    assert status == 1
    assert told.count("missing") == 1
    assert "only runs recorded at a server on this machine" in told
