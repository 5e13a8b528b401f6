"""`runtape browse`: a walk through a run, by lines that are piped in and at a terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import pytest
from loopback import Answer, Loopback, Received

from runtape.cli.main import run

EXAMPLES = Path(__file__).parents[3] / "examples"
BROWSE = [sys.executable, "-m", "runtape.cli", "browse"]
MODEL = ["--model-fn", str(EXAMPLES / "stand_ins.py:inbox")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one recorded run."""
    folder = tmp_path_factory.mktemp("browse")
    subprocess.run([sys.executable, EXAMPLES / "inbox_agent.py"], cwd=folder, check=True, capture_output=True)
    return folder


@dataclass
class Done:
    """What a walk left."""

    returncode: int
    stdout: str
    stderr: str


Piped: TypeAlias = Callable[..., Done]


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Piped:
    """Walks by lines on standard input."""
    monkeypatch.delenv("RUNTAPE_DIR", raising=False)

    def walked(folder: Path, lines: str | bytes, *arguments: str) -> Done:
        monkeypatch.chdir(folder)
        sent = lines.encode() if isinstance(lines, str) else lines
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(sent), encoding="utf-8"))
        return Done(run(["browse", *arguments]), *capsys.readouterr())

    return walked


def titles(printed: str) -> list[str]:
    lines = printed.splitlines()
    return [line for line, below in pairwise(lines) if set(below) in ({"-"}, {"="})]


def test_a_walk_goes_forward_back_to_a_kind_and_to_an_event_by_name(piped: Piped, folder: Path) -> None:
    lines = "next\n\nn 3\nback 2\nback run_start\ngoto tool:forward_email\n12\nlast\nb llm_request\nn 99\n"
    done = piped(folder, lines)
    assert [title.split(",")[0] for title in titles(done.stdout)] == [
        f"Event {number}" for number in (0, 1, 2, 5, 3, 0, 23, 12, 30, 29, 31)
    ]
    assert (done.returncode, done.stderr) == (0, "")


def test_the_ends_of_a_run_are_said_and_no_errors(piped: Piped, folder: Path) -> None:
    done = piped(folder, "back\ngoto 31\nnext\nquit\nnext\n")
    assert done.stdout.count("This is the first event.") == done.stdout.count("This is the last event.") == 1
    assert done.returncode == 0


def test_a_search_goes_to_where_the_text_entered_then_from_event_to_event(piped: Piped, folder: Path) -> None:
    done = piped(folder, "search northwind-clearing\nsearch\ns\n31\ns\n")
    assert "It first entered the run in event 12, written by the tool read_email as its result." in done.stdout
    events = [title.split(",")[0] for title in titles(done.stdout) if title.startswith("Event ")]
    assert events == [f"Event {number}" for number in (0, 12, 13, 22, 31, 12)]
    assert "No later event holds northwind-clearing" in done.stdout


def test_the_difference_is_to_the_decision_before_or_to_another(piped: Piped, folder: Path) -> None:
    done = piped(folder, "goto 22\ndiff\ndiff 2\ngoto 2\ndiff\n")
    assert "at events 18 and 22" in done.stdout
    assert "From event 2 to event 22: 10 added" in done.stdout
    assert "no decision comes before this one" in done.stderr
    assert done.returncode == 2


def test_context_whole_event_and_list_show_what_the_other_commands_show(
    piped: Piped, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = piped(folder, "goto 22\ncontext\nall\nlist\n")
    for command in ("context", "show"):
        assert run([command, "last", "22"]) == 0
        assert capsys.readouterr().out in done.stdout
    assert "Shown are 13 to 32." in done.stdout


def test_a_long_event_is_cut_visibly_and_shown_whole_when_asked(piped: Piped, tmp_path: Path) -> None:
    event = {"id": 0, "ts": 1.0, "type": "log", "payload": {"message": "a" * 5000}, "meta": {}, "parent": None}
    (tmp_path / "run.jsonl").write_text(json.dumps(event) + "\n")
    short, whole = piped(tmp_path, "", "run.jsonl").stdout, piped(tmp_path, "all\n", "run.jsonl").stdout
    assert "characters cut" in short
    assert "`all` shows it whole" in short
    assert "a" * 5000 in whole


REFUSED = {
    "goto 9999": "no event 9999",
    "goto": "goto where?",
    "search": "search for what?",
    "serch northwind": "Did you mean 'search'?",
    "next nothing": "no event of the kind 'nothing' stands after this one",
    "diff": "belongs to no model call",
    "why": "belongs to no model call",
    "\x1b[31m\udcff": "is no word here",
}


def test_what_cannot_be_done_is_said_and_the_walk_goes_on(piped: Piped, folder: Path) -> None:
    sent = "\n".join([*REFUSED, "22", "why deep", "next", ""]).encode("utf-8", "surrogateescape")
    done = piped(folder, sent)
    errors = done.stderr.splitlines()
    for error, said in zip(errors, [*REFUSED.values(), "give quick, full or upstream"], strict=True):
        assert said in error
    assert "\x1b" not in "".join(errors)
    assert [title.split(",")[0] for title in titles(done.stdout)] == ["Event 0", "Event 22", "Event 23"]
    assert done.returncode == 2


def test_why_tells_the_cost_and_sends_nothing_without_a_yes(piped: Piped, folder: Path, tmp_path: Path) -> None:
    asked = threading.Event()

    def answer(received: Received) -> Answer:
        asked.set()
        return Answer({}, 500)

    prices = tmp_path / "prices.json"
    prices.write_text('{"dated": "2026-11-01", "models": {"stand-in": {"input": 1, "output": 2}}}')
    with Loopback(answer) as server:
        for lines in ("tool:forward_email\nwhy\nno\n", "tool:forward_email\nwhy"):
            done = piped(folder, lines, "--base-url", server.url, "--prices", str(prices))
            assert re.search(r"Nothing was sent. It would take about 46 model calls, .*about \$\d", done.stdout)
            assert done.returncode == 0
    assert not asked.is_set()


def test_why_shows_the_report_after_a_yes(piped: Piped, folder: Path) -> None:
    done = piped(folder, "tool:forward_email\nwhy\ny\nnext\n", "--no-cache", *MODEL)
    assert "The decision (calls forward_email) depends on this text, which read_email returned" in done.stdout
    assert "10 of 10 reruns with it" in done.stdout
    assert "Event 24, tool_result" in done.stdout
    assert done.returncode == 0


def test_what_is_kept_is_shown_without_a_question(
    piped: Piped, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    assert run(["why", "last", "tool:forward_email", *MODEL]) == 0
    capsys.readouterr()
    done = piped(folder, "tool:forward_email\nwhy\nquit\n", *MODEL)
    assert "y/N" not in done.stdout + done.stderr
    assert "10 of 10 reruns with it" in done.stdout
    assert "runtape: no model call: all " in done.stderr


def test_a_walk_may_begin_at_an_event(piped: Piped, folder: Path) -> None:
    assert titles(piped(folder, "", "last", "--event", "tool:forward_email").stdout)[0].startswith("Event 23,")
    missing = piped(folder, "", "last", "--event", "tool:nothing")
    assert (missing.returncode, missing.stdout) == (2, "")


class Terminal:
    """The command at a terminal of its own."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}
        self.process = subprocess.Popen(
            [*BROWSE, *arguments],
            cwd=folder,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment,
            start_new_session=True,
        )
        os.close(theirs)
        self.seen = ""

    def until(self, text: str) -> str:
        """What is printed up to a text, which is waited for."""
        while text not in self.seen:
            self.seen += os.read(self._ours, 65536).decode(errors="replace")
        before, _, self.seen = self.seen.partition(text)
        return before

    def say(self, line: str) -> None:
        os.write(self._ours, line.encode())

    def interrupt(self) -> None:
        """Ctrl-C; one that comes just before the read that it is to end is given again, as a person would."""
        self.process.send_signal(signal.SIGINT)
        while not select.select([self._ours], [], [], 1)[0]:
            self.process.send_signal(signal.SIGINT)

    def ended(self) -> int:
        """The exit status; what is still printed is kept in `seen`."""
        try:
            while more := os.read(self._ours, 65536):
                self.seen += more.decode(errors="replace")
        except OSError:  # how a terminal tells that nobody writes any more
            pass
        os.close(self._ours)
        return self.process.wait(60)


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
@pytest.mark.parametrize(("leave", "status"), [("quit\n", 0), ("\x04", 0), ("interrupt", 130)])
def test_a_terminal_gets_a_prompt_and_is_left_cleanly(folder: Path, leave: str, status: int) -> None:
    terminal = Terminal(folder)
    terminal.until("event 0 (1 of 32)> ")
    terminal.say("goto 12\n")
    assert "Accounts processing" in terminal.until("event 12 (13 of 32)> ")
    if leave == "interrupt":
        terminal.interrupt()
    else:
        terminal.say(leave)
    assert terminal.ended() == status
    assert "Traceback" not in terminal.seen


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
def test_an_interrupted_why_keeps_the_walk_and_shows_what_is_known(folder: Path) -> None:
    reached, released = threading.Event(), threading.Event()

    def slow(received: Received) -> Answer:
        reached.set()
        released.wait(100)
        return Answer({}, 500)

    with Loopback(slow) as server:
        terminal = Terminal(folder, "last", "--event", "22", "--no-cache", "--base-url", server.url)
        terminal.until("> ")
        terminal.say("why\n")
        terminal.until("[y/N] ")
        terminal.interrupt()
        terminal.until("you are where you were")
        terminal.until("event 22 (23 of 32)> ")
        assert not reached.is_set()
        terminal.say("why\n")
        terminal.until("[y/N] ")
        terminal.say("y\n")
        assert reached.wait(100)
        terminal.interrupt()
        terminal.until("stopped before anything is known")
        released.set()
        terminal.until("event 22 (23 of 32)> ")
        terminal.say("quit\n")
        assert terminal.ended() == 0


HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202eevil\u200b\x00\ud800<script>"


def test_recorded_text_never_acts_on_the_terminal(piped: Piped, tmp_path: Path) -> None:
    def event(number: int, kind: str, payload: object, parent: int | None = None) -> str:
        return json.dumps(
            {"id": number, "ts": 1.0 + number, "type": kind, "payload": payload, "meta": {}, "parent": parent}
        )

    lines = []
    for number in (0, 4):
        messages = [{"role": "user", "content": f"{HOSTILE} says {number}."}]
        lines += [
            event(number, "llm_request", {"api": "chat.completions", "model": HOSTILE, "messages": messages}),
            event(number + 1, "llm_response", {"text": HOSTILE, "tool_calls": []}, number),
            event(number + 2, HOSTILE, {HOSTILE: HOSTILE}),
            event(number + 3, "tool_result", {"name": HOSTILE, "result": HOSTILE}, number + 2),
        ]
    (tmp_path / "run.jsonl").write_text("\n".join(lines) + "\n")
    walk = "\n".join(["n"] * 8) + "\n5\nc\na\nd\nl\ns evil\ns\ng tool:x\n"
    done = piped(tmp_path, walk, "run.jsonl")
    printed = done.stdout + done.stderr
    assert not {"\x1b", "\x07", "\x00", "\u202e", "\u200b"} & set(printed)
    assert "<U+202E>evil" in printed
    assert "Traceback" not in printed
