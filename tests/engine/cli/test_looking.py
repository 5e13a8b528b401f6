"""The commands that only look at a run: summary, timeline, context, grep, diff."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runtape.cli.main import run

EXAMPLES = Path(__file__).parents[3] / "examples"
CALLED = "tool:forward_email"
PLANTED = "northwind-clearing"


@pytest.fixture(autouse=True)
def _in_the_folder(inbox_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(inbox_folder)
    monkeypatch.delenv("RUNTAPE_DIR", raising=False)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> Any:
    assert run([*arguments, "--json"]) == status
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    return json.loads(printed)


def said(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    assert run([*arguments]) == status
    return capsys.readouterr().out


def event(number: int, kind: str, payload: object, parent: int | None = None, **meta: object) -> str:
    return json.dumps(
        {"id": number, "ts": 1.0 + number, "type": kind, "payload": payload, "meta": meta, "parent": parent}
    )


def test_the_pages_of_a_timeline_hold_each_event_once(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[int] = []
    offset: int | None = 0
    while offset is not None:
        page = answer(capsys, "timeline", "last", "--limit", "7", "--offset", str(offset))
        seen += [one["id"] for one in page["events"]]
        offset = page["next_offset"]
    assert seen == list(range(32))


def test_a_page_of_the_timeline_says_how_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(capsys, "timeline", "last", "--kind", "tool_call", "--limit", "3")
    assert "read_email" in shown
    assert "llm_request" not in shown
    assert "4 more: runtape timeline last --kind tool_call --offset 3" in shown
    assert "there are 7 such events" in said(capsys, "timeline", "last", "--kind", "tool_call", "--offset", "9")


def test_the_context_holds_each_text_whole_in_pieces_that_can_be_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    context = answer(capsys, "context", "last", CALLED)
    assert (context["event"], context["request"]) == (22, 21)
    [planted] = [
        (message, piece) for message in context["messages"] for piece in message["pieces"] if PLANTED in piece["text"]
    ]
    message, piece = planted
    assert (message["kind"], message["tool"], message["event"]) == ("tool_result", "read_email", 12)
    assert (message["call"], message["asked_in"]) == (11, 10)
    assert all(one["text"] in message["text"] or one["text"] for one in message["pieces"])
    model = ["--model-fn", str(EXAMPLES / "stand_ins.py:inbox")]
    without = answer(capsys, "rerun", "last", CALLED, "--drop", piece["ref"], "--runs", "3", *model)
    assert without["kept"] == {"kept": 0, "n": 3}


def test_the_context_is_shown_message_by_message(capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(capsys, "context", "last", CALLED)
    places = [
        shown.index(text)
        for text in ("system prompt, message 0, event 1", "user, message 1", "tool result of list_inbox", PLANTED)
    ]
    assert places == sorted(places)
    assert "- 1[0]/l4/s1: Be brief." in shown
    assert "forward_email" in shown.split("Tools that the model could call")[1]


def test_grep_tells_where_a_text_entered_the_run_and_who_wrote_it(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "grep", "last", PLANTED.upper())
    entered = found["entered"]
    assert (entered["event"], entered["writer"], entered["tool"]) == (12, "tool", "read_email")
    assert (entered["call"], entered["asked_in"]) == (11, 10)
    agent = next(one for one in found["found"] if one["writer"] == "agent")
    assert (agent["event"], agent["tool"]) == (22, "forward_email")
    shown = said(capsys, "grep", "last", PLANTED)
    assert "first entered the run in event 12, written by the tool read_email as its result" in shown
    assert "asked for that call in event 10" in shown


@pytest.mark.parametrize(
    ("term", "at", "writer"),
    [
        ("Dana is busy", 1, "system"),
        ("deal with the invoice", 1, "user"),
        ("Move a mail to a folder", 1, "tools"),
        ("nothing else needs you", 30, "agent"),
        ("inbox_agent.py", 0, "program"),
    ],
)
def test_grep_knows_every_kind_of_writer(capsys: pytest.CaptureFixture[str], term: str, at: int, writer: str) -> None:
    entered = answer(capsys, "grep", "last", term)["entered"]
    assert (entered["event"], entered["writer"]) == (at, writer)


def test_grep_finds_thoughts_that_only_the_raw_reply_holds(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    raw = {"choices": [{"message": {"content": "Done.", "reasoning_content": "They want the ledger."}}]}
    lines = [
        event(0, "llm_request", {"api": "chat.completions", "messages": [{"role": "user", "content": "Go."}]}),
        event(1, "llm_response", {"text": "Done.", "tool_calls": [], "raw": raw}, 0),
    ]
    (tmp_path / "run.jsonl").write_text("\n".join(lines) + "\n")
    found = answer(capsys, "grep", str(tmp_path / "run.jsonl"), "the ledger")["found"]
    assert [(one["event"], one["writer"]) for one in found] == [(1, "agent")]
    assert len(answer(capsys, "grep", str(tmp_path / "run.jsonl"), "Done.")["found"]) == 1


def test_a_text_that_nowhere_stands_is_status_1_and_an_empty_one_bad_input(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert answer(capsys, "grep", "last", "zebra", status=1) == {
        "trace": next(Path("traces").iterdir()).stem,
        "term": "zebra",
        "entered": None,
        "found": [],
    }
    assert run(["grep", "last", ""]) == 2


def test_the_difference_of_two_contexts_makes_one_into_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "diff", "last", "2", CALLED)
    assert found["events"] == [2, 22]
    assert {change["kind"] for change in found["changes"]} == {"added"}
    assert found["same"] + len(found["changes"]) == 12
    back = answer(capsys, "diff", "last", CALLED, "2")
    assert [change["before"] for change in back["changes"]] == [change["after"] for change in found["changes"]]
    assert "Nothing differs" in said(capsys, "diff", "last", CALLED, "22")


def test_a_changed_message_shows_its_changed_line_only(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lines = []
    for number, limit in ((0, "100"), (2, "900")):
        system = {"role": "system", "content": f"Refund up to {limit} USD.\nBe kind."}
        tools = [{"type": "function", "function": {"name": "refund", "description": f"At most {limit}."}}]
        request = {"api": "chat.completions", "model": f"m{limit}", "tools": tools, "params": {"temperature": number}}
        user = {"role": "user", "content": "Refund me."}
        lines.append(event(number, "llm_request", {**request, "messages": [system, user]}))
        lines.append(event(number + 1, "llm_response", {"text": "No.", "tool_calls": []}, number))
    (tmp_path / "run.jsonl").write_text("\n".join(lines) + "\n")
    found = answer(capsys, "diff", str(tmp_path / "run.jsonl"), "1", "3")
    assert [(change["kind"], change["part"]) for change in found["changes"]] == [
        ("changed", "message"),
        ("changed", "tool refund"),
        ("changed", "model"),
        ("changed", "parameter temperature"),
    ]
    assert found["same"] == 1
    shown = said(capsys, "diff", str(tmp_path / "run.jsonl"), "1", "3")
    assert "| -  Refund up to 100 USD." in shown
    assert "| +  Refund up to 900 USD." in shown


def test_a_summary_counts_calls_tokens_tools_time_and_errors(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 60}}
    raw = {"choices": [{"message": {"role": "assistant", "content": "Yes."}}], "usage": usage}
    request = {"api": "chat.completions", "model": "m", "messages": [{"role": "user", "content": "Hi."}]}
    lines = [
        event(0, "run_start", {"name": "job"}),
        event(1, "llm_request", request),
        event(2, "llm_response", {"text": "Yes.", "tool_calls": [], "raw": raw}, 1, latency_ms=1500),
        event(3, "tool_call", {"name": "read", "arguments": {}}),
        event(4, "tool_result", {"name": "read", "error": "no such file"}, 3, latency_ms=20),
        event(5, "llm_request", request),
        event(6, "llm_response", {"error": {"message": "overloaded"}}, 5),
        event(7, "run_end", {"status": "error"}),
    ]
    (tmp_path / "run.jsonl").write_text("\n".join(lines) + "\n")
    found = answer(capsys, "summary", str(tmp_path / "run.jsonl"))
    assert found["models"] == [
        {
            "model": "m",
            "calls": 2,
            "failed": 1,
            "seconds": 1.5,
            "tokens": {"replies": 1, "input": 100, "cached": 60, "output": 5},
        }
    ]
    assert found["tools"] == [{"tool": "read", "runs": 1, "errors": 1, "seconds": 0.02}]
    assert [one["event"] for one in found["errors"]] == [4, 6]
    shown = said(capsys, "summary", str(tmp_path / "run.jsonl"))
    assert "1 call without a count of tokens" in shown
    assert "overloaded" in shown


HOSTILE = "\x1b[31mred\u202eevil\u200b"


@pytest.mark.parametrize("command", ["summary", "timeline", "context", "grep", "diff"])
def test_hidden_characters_are_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str) -> None:
    lines = []
    for number in (0, 4):
        messages = [{"role": "user", "content": f"{HOSTILE} says {number}."}]
        lines += [
            event(number, "llm_request", {"api": "chat.completions", "model": HOSTILE, "messages": messages}),
            event(number + 1, "llm_response", {"text": HOSTILE, "tool_calls": []}, number),
            event(number + 2, "tool_call", {"name": HOSTILE, "arguments": {}}),
            event(number + 3, "tool_result", {"name": HOSTILE, "result": HOSTILE}, number + 2),
        ]
    (tmp_path / "run.jsonl").write_text("\n".join(lines) + "\n")
    rest = {"context": ["1"], "grep": ["<U+202E>evil"], "diff": ["1", "5"]}.get(command, [])
    shown = said(capsys, command, str(tmp_path / "run.jsonl"), *rest)
    assert "<U+202E>" in shown
    assert not {"\x1b", "\u202e", "\u200b"} & set(shown)


@pytest.mark.parametrize(("told", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colours_are_for_terminals_that_want_them(told: dict[str, str], coloured: bool) -> None:
    ours, theirs = pty.openpty()
    environment = {**{key: value for key, value in os.environ.items() if key != "NO_COLOR"}, "TERM": "xterm", **told}
    command = [sys.executable, "-m", "runtape.cli", "summary", "last"]
    subprocess.run(command, env=environment, stdout=theirs, check=True)
    os.close(theirs)
    printed = os.read(ours, 65536)
    os.close(ours)
    assert (b"\x1b[1m" in printed) is coloured
    assert b"\x1b" not in subprocess.run(command, env=environment, capture_output=True, check=True).stdout
