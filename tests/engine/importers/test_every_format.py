"""The same run, kept by every kind of program: its calls, tools and labels come out the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_files import DONE, NAMES, NOTE, foreign
from import_door import bodies, fidelities, import_data, tool_runs

import runtape


@pytest.mark.parametrize("name", NAMES)
def test_every_call_and_tool_run_is_found_and_the_format_is_named_with_a_reason(name: str, tmp_path: Path) -> None:
    file = foreign(name)
    imported = import_data(tmp_path, file.file, file.data)
    assert imported.status == 0
    assert imported.format["format"] == file.format
    assert all(imported.format["files"].values())
    assert imported.calls == file.calls
    trace = imported.trace
    assert trace.reply(trace.calls[-1].request).text == DONE
    if name != "mini":  # its commands are text
        runs = [("read_note", {"name": "todo"}, NOTE), ("delete_all", {"path": "/"}, "ok")]
        assert tool_runs(trace) == runs
        decisions = [trace.reply(call.request).tool_calls for call in trace.calls]
        assert [[call.name for call in calls] for calls in decisions] == [["read_note"], ["delete_all"], []]
    label = fidelities(trace)[-1]
    assert label.label == file.fidelity
    assert set(file.missing) <= set(label.missing)


@pytest.mark.parametrize("name", NAMES)
def test_a_request_holds_what_stood_before_its_reply_and_a_result_stays_the_text_it_was(
    name: str, tmp_path: Path
) -> None:
    file = foreign(name)
    first, second, third = bodies(import_data(tmp_path, file.file, file.data).trace)
    spelled = [json.dumps(body, ensure_ascii=False) for body in (first, second, third)]
    assert [json.dumps(NOTE)[1:-1] in text for text in spelled] == [False, True, True]
    before, after = ([*body.get("messages", []), *body.get("input", [])] for body in (second, third))
    assert after[: len(before)] == before
    assert json.dumps("ok") in spelled[2]


@pytest.mark.parametrize("name", NAMES)
def test_why_finds_the_note_in_an_imported_run(name: str, tmp_path: Path) -> None:
    file = foreign(name)
    trace = import_data(tmp_path, file.file, file.data).trace

    def model(request: dict[str, Any]) -> dict[str, Any] | str:
        if "delete everything" not in json.dumps(request["messages"]):
            return "Nothing to do."
        if name == "mini":
            return "```bash\nrm -rf /\n```"
        return {"text": None, "tool_calls": [{"name": "delete_all", "arguments": {"path": "/"}}]}

    options: dict[str, Any] = {"match": r"rm -rf"} if name == "mini" else {"tool": "delete_all"}
    report = runtape.why(
        trace.path, trace.calls[1].request.id, model=model, budget=400, cache_dir=str(tmp_path / "cache"), **options
    )
    assert report.base[0] == report.base[1] > 0
    assert "delete everything" in " ".join(report.headline)
