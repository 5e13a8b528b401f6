"""The commands that look at a run, on traces whose every text, name, type and line was made to harm."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from runtape.cli.main import run

BAD = "\x1b]0;x\x07\x1b[2J\u202eevil\u2066\u200b\x00\ud800<script>\r\nforged\x85\u2028line"
ACTS = set("\x1b\x07\x00\r\x85\u2028\u202e\u2066\u200b\ud800")


def event(number: int, kind: str, payload: object, parent: int | None = None) -> str:
    return json.dumps(
        {"id": number, "ts": 1.0 + number, "type": kind, "payload": payload, "meta": {}, "parent": parent}
    )


def request(*messages: object, **more: object) -> dict[str, Any]:
    return {"api": "chat.completions", "model": "m", "params": {}, "messages": [*messages], **more}


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def tool(name: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {name: {"type": "string", "description": name}}}
    return {"type": "function", "function": {"name": name, "description": name, "parameters": schema}}


MANY = 300
CALLS = [{"id": f"c{at}", "name": f"t{at}", "arguments": {"at": at}} for at in range(MANY)]
SAME_CALLS = [
    {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": "{}"}} for call in CALLS
]
RESULTS = [{"role": "tool", "tool_call_id": call["id"], "content": "Evil is said here."} for call in CALLS]
REPLY = {"text": "Evil.", "tool_calls": []}
TRACES = {
    "every text and name acts": [
        event(0, "run_start", {"name": BAD, "tags": {BAD: BAD}}),
        event(1, "llm_request", request({"role": BAD, "content": BAD}, user(BAD), tools=[tool(BAD)]) | {"model": BAD}),
        event(2, "llm_response", {"text": BAD, "tool_calls": [{"id": BAD, "name": BAD, "arguments": {BAD: BAD}}]}, 1),
        event(3, "tool_call", {"name": BAD, "arguments": {BAD: BAD}}),
        event(4, "tool_result", {"name": BAD, "error": BAD}, 3),
        event(5, BAD, {BAD: BAD}),
        event(6, "llm_request", request(user(BAD), user("More."))),
        event(7, "llm_response", REPLY, 6),
    ],
    "every type is wrong": [
        event(0, "llm_request", request(user("Go."))),
        event(1, "llm_response", REPLY, 0),
        event(
            2, "llm_request", {"api": 5, "messages": {"a": 1}, "model": [1], "tools": "x", "system": 7, "params": []}
        ),
        event(3, "llm_response", {"text": 5, "tool_calls": [5, {"name": 3, "arguments": [1]}]}, 2),
        event(4, "tool_call", {"name": 5, "arguments": None}),
        event(5, "tool_result", {"name": ["x"], "result": None}, 4),
        event(6, "llm_request", request("x", 5, None, {"role": 5, "content": [{"type": "text"}, 5]}, user("Evil."))),
        event(7, "llm_response", {"text": "a", "tool_calls": {"x": 1}}, 6),
    ],
    "most lines are broken": [
        '{"id": 0, "ts"',
        "null",
        '"evil"',
        event(1, "llm_request", request(user("Go."))),
        '{"id": 1e400}',
        event(2, "llm_response", REPLY, 1),
        "\x00\x00",
        '{"id": 3, "ts": 1e308, "type": "log", "payload": {"a": Infinity}}',
        event(10**15, "log", {"message": "far"}),
        event(6, "llm_request", request(user("Go on."), user("evil"))),
        event(7, "llm_response", REPLY, 6),
        '{"id": 8, "ts": -1e300, "type": "log", "payload": {}, "meta": {}, "parent": 8}',
    ],
    "one line is long": [
        event(1, "llm_request", request(user("Go."))),
        event(2, "llm_response", {"text": "evil " + "x" * 200_000, "tool_calls": []}, 1),
        event(6, "llm_request", request(user("Evil, it is said. " * 400))),
        event(7, "llm_response", REPLY, 6),
    ],
    "one reply calls many tools": [
        event(1, "llm_request", request(user("Go."))),
        event(2, "llm_response", {"text": None, "tool_calls": CALLS}, 1),
        event(6, "llm_request", request(user("Go."), {"role": "assistant", "tool_calls": SAME_CALLS}, *RESULTS)),
        event(7, "llm_response", REPLY, 6),
    ],
}
COMMANDS = {
    "summary": [],
    "timeline": [],
    "show": ["7"],
    "context": ["7"],
    "grep": ["evil"],
    "diff": ["2", "7"],
    "why": ["7", "--dry"],
    "view": ["--out", "page.html"],
    "browse": [],
}
REFUSED = {("every type is wrong", "diff"): ["1", "7"]}
"""What has to be asked in another way."""


@pytest.mark.parametrize("name", TRACES)
def test_a_run_that_was_made_to_harm_is_shown_and_does_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / "run.jsonl").write_bytes("\n".join([*TRACES[name], ""]).encode())
    monkeypatch.chdir(tmp_path)
    for command, rest in COMMANDS.items():
        line = [command, "run.jsonl", *REFUSED.get((name, command), rest)]
        monkeypatch.setattr("sys.stdin", io.StringIO("next\nlast\ncontext\nsearch evil\nlist\nback\n"))
        assert run(line) == 0, line
        out, err = capsys.readouterr()
        assert not ACTS & set(out + err), line
        assert out or err
        if command not in {"view", "browse"}:
            assert run([*line, "--json"]) == 0, line
            printed = capsys.readouterr().out
            assert isinstance(json.loads(printed), dict)
            assert printed.count("\n") == 1
            assert not {"\x1b", "\x00"} & set(printed)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("<script") == 2
    assert not ACTS & set(page)
