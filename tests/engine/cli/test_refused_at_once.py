"""A value that cannot be right is refused before anything is read, imported or asked for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from runtape.cli.main import run

ASKING = ("why", "fix", "rerun", "odds")
CHOOSING = (*ASKING, "test")
"""Commands that take the flags that choose a decision."""

BAD = {
    "--model-fn": [
        (verb, value)
        for verb in (*CHOOSING, "browse", "view")
        for value in ("nothing", "absent.py:f", "agent.py:repli", "torn.py:f", "no_such_module_here:f")
    ],
    "--judge-fn": [(verb, value) for verb in CHOOSING for value in ("nothing", "absent.py:f", "agent.py:repli")],
    "--judge": [(verb, value) for verb in CHOOSING for value in ("  ", "x" * 5000)],
    "--where": [(verb, value) for verb in CHOOSING for value in ("", "amount >", "1 > 2")],
    "--match": [(verb, value) for verb in (*CHOOSING, "view") for value in ("", "(", "a{999999}")],
    "--arg": [(verb, value) for verb in CHOOSING for value in ("", "a..b", "items[")],
    "--base-url": [(verb, value) for verb in (*CHOOSING, "browse", "view") for value in ("ftp://x", "localhost")],
    "--prices": [(verb, value) for verb in (*ASKING, "browse") for value in ("absent.json", "agent.py")],
    "--system-file": [("rerun", "absent.txt")],
    "--replace": [("rerun", "no arrow"), ("rerun", "=>new")],
    "--mark": [("rerun", "colours")],
    "--candidate": [("fix", '{"name": '), ("fix", '{"name": "a", "add_sytem": "b"}'), ("fix", '{"name": "a"}')],
    "--variant": [("fix", " ")],
    "--write-test": [("fix", "tests/inbox.py"), ("fix", "test_taken.py")],
    "--out": [("test", "tests/inbox.py"), ("test", "test_taken.py"), ("view", "nowhere/at/all.html")],
    "--html": [("why", "nowhere/at/all.html")],
    "--rate-below": [("test", "1.5"), ("test", "0")],
    "--guard-with": [("test", "nothing")],
    "--system-from": [("test", "a b:c")],
    "--clean-with": [("test", ":c")],
}
CASES = [(verb, option, value) for option, cases in BAD.items() for verb, value in cases]
TOGETHER = [
    [verb, *options]
    for verb in ASKING
    for options in (["--batch", "--no-cache"], ["--batch", "--model-fn", "agent.py:reply"])
] + [[verb, "--judge", "Is it?", "--judge-fn", "agent.py:reply"] for verb in CHOOSING]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "agent.py").write_text("print('imported')\n\ndef reply(request):\n    return 'x'\n", encoding="utf-8")
    (tmp_path / "torn.py").write_text("def f(:\n", encoding="utf-8")
    (tmp_path / "test_taken.py").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RUNTAPE_DIR", raising=False)


def refused(capsys: pytest.CaptureFixture[str], line: list[str]) -> str:
    """What is said about a command line, whose run does not exist: whoever looked for it would say that."""
    assert run(line) == 2
    out, err = capsys.readouterr()
    assert "imported" not in out
    assert "no trace" not in err
    assert err.startswith("runtape: ")
    assert err.count("\n") == 1
    return err


def line_of(verb: str) -> list[str]:
    event = [] if verb in {"browse", "view"} else ["last"]
    out = ["--out", "tests/test_x.py"] if verb == "test" else []
    return [verb, "absent.jsonl", *event, *out]


@pytest.mark.parametrize(("verb", "option", "value"), CASES)
def test_a_bad_value_is_refused_before_the_run_is_looked_for(
    capsys: pytest.CaptureFixture[str], verb: str, option: str, value: str
) -> None:
    assert refused(capsys, [*line_of(verb), option, value])


@pytest.mark.parametrize("line", TOGETHER)
def test_flags_that_exclude_each_other_are_refused_before_the_run_is_looked_for(
    capsys: pytest.CaptureFixture[str], line: list[str]
) -> None:
    verb, *options = line
    assert refused(capsys, [*line_of(verb), *options])


def test_nothing_heavy_is_loaded_for_it() -> None:
    code = (
        "import sys; from runtape.cli.main import run; "
        "run(['why', 'absent.jsonl', 'last', '--model-fn', 'absent.py:f']);"
        "print(sorted({'numpy', 'httpx', 'httpx2', 'openai', 'anthropic'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert "absent.py" in done.stderr


def test_what_the_code_itself_decides_is_left_to_it(capsys: pytest.CaptureFixture[str]) -> None:
    Path("late.py").write_text("from agent import *\nglobals()['made'] = lambda request: 'x'\n", encoding="utf-8")
    for spec in ("late.py:reply", "late.py:made", "agent:reply"):
        assert run(["why", "absent.jsonl", "last", "--model-fn", spec]) == 2
        assert "no trace" in capsys.readouterr().err
