"""Claude Code sessions and Codex rollouts: replies in pieces, parallel tools, rewinds, compaction, sub-agents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from foreign_files import (
    at,
    claude_line,
    claude_result,
    claude_said,
    codex_head,
    codex_line,
    item_call,
    item_message,
    item_output,
    lines,
    tokens,
    use,
)
from import_door import bodies, fidelities, import_data, tool_runs


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def test_parallel_tool_uses_whose_results_branch_off_are_all_in_the_next_request(tmp_path: Path) -> None:
    data = lines(
        claude_line("user", "u1", None, {"content": "Look at both."}),
        claude_said("a2", "u1", "msg_1", text("I look.")),
        claude_said("a3", "a2", "msg_1", use("t1", "read", {"n": 1})),
        claude_said("a4", "a3", "msg_1", use("t2", "read", {"n": 2})),
        claude_result("u5", "a3", "t1", "one"),  # newer versions: the parent is the line of its own tool use
        claude_result("u6", "a4", "t2", [text("two")]),
        claude_said("a7", "u6", "msg_2", text("Both seen.")),
    )
    trace = import_data(tmp_path, "s.jsonl", data).trace
    first, second = bodies(trace)
    assert first["messages"] == [{"role": "user", "content": "Look at both."}]
    _, reply, results = second["messages"]
    assert [block["type"] for block in reply["content"]] == ["text", "tool_use", "tool_use"]
    assert [(block["tool_use_id"], block["content"]) for block in results["content"]] == [
        ("t1", "one"),
        ("t2", [text("two")]),
    ]
    assert tool_runs(trace) == [("read", {"n": 1}, "one"), ("read", {"n": 2}, [text("two")])]


def test_after_a_rewind_a_call_is_asked_with_its_own_branch(tmp_path: Path) -> None:
    data = lines(
        claude_line("user", "u1", None, {"content": "Hello."}),
        claude_said("a2", "u1", "msg_1", text("Hi.")),
        claude_line("user", "u3", "a2", {"content": "Paint it red."}),
        claude_said("a4", "u3", "msg_2", text("Red.")),
        claude_line("user", "u5", "a2", {"content": "Paint it blue."}),
        claude_said("a6", "u5", "msg_3", text("Blue.")),
    )
    last = bodies(import_data(tmp_path, "s.jsonl", data).trace)[-1]
    assert [message["content"] for message in last["messages"]] == ["Hello.", [text("Hi.")], "Paint it blue."]


def test_after_compaction_a_call_is_asked_with_the_summary_and_not_with_what_it_sums_up(tmp_path: Path) -> None:
    boundary = claude_line("system", "b3", "a2", {}, subtype="compact_boundary")
    data = lines(
        claude_line("user", "u1", None, {"content": "Hello."}),
        claude_said("a2", "u1", "msg_1", text("Hi.")),
        boundary,
        claude_line("user", "u4", "b3", {"content": "Summary: greetings."}, isCompactSummary=True),
        claude_said("a5", "u4", "msg_2", text("Going on.")),
    )
    trace = import_data(tmp_path, "s.jsonl", data).trace
    assert bodies(trace)[-1]["messages"] == [{"role": "user", "content": "Summary: greetings."}]
    assert fidelities(trace)[-1].missing == ("system", "tools", "params")


def test_a_session_whose_beginning_is_gone_says_that_earlier_messages_are_missing(tmp_path: Path) -> None:
    data = lines(
        claude_line("user", "u5", "gone", {"content": "And now?"}),
        claude_said("a6", "u5", "msg_9", text("Now this.")),
    )
    assert "earlier messages" in fidelities(import_data(tmp_path, "s.jsonl", data).trace)[0].missing


def test_a_sub_agent_is_a_run_of_its_own_and_an_error_text_is_no_call(tmp_path: Path) -> None:
    error = {"isApiErrorMessage": True}
    data = lines(
        claude_line("user", "u1", None, {"content": "Search."}),
        claude_said("a2", "u1", "msg_1", use("t1", "Task", {"prompt": "look"})),
        claude_line("user", "u3", None, {"content": "look"}, isSidechain=True),
        claude_said("a4", "u3", "msg_2", text("found"), isSidechain=True),
        claude_result("u5", "a2", "t1", "found"),
        claude_said("a6", "u5", "msg_3", text("API Error: overloaded"), **error),
        claude_said("a7", "u5", "msg_4", text("Found it.")),
    )
    got = import_data(tmp_path, "s.jsonl", data)
    assert sorted(len(trace.calls) for trace in got.traces) == [1, 2]
    assert got.skipped == {"an error text of Claude Code's own, no reply of the model": 1}


def test_what_stream_json_prints_is_a_session_whose_heading_names_the_model(tmp_path: Path) -> None:
    data = lines(
        {"type": "system", "subtype": "init", "session_id": "s", "model": "claude-x", "tools": ["Read"]},
        {
            "type": "assistant",
            "session_id": "s",
            "message": {"id": "m1", "role": "assistant", "content": [text("Hi.")]},
        },
        {"type": "user", "session_id": "s", "message": {"role": "user", "content": "More."}},
        {
            "type": "assistant",
            "session_id": "s",
            "message": {"id": "m2", "role": "assistant", "content": [text("So.")]},
        },
        {"type": "result", "subtype": "success", "session_id": "s"},
    )
    got = import_data(tmp_path, "out.jsonl", data)
    assert got.calls == 2
    last = bodies(got.trace)[-1]
    assert (last["model"], [message["role"] for message in last["messages"]]) == ("claude-x", ["assistant", "user"])


def test_equal_replies_to_equal_questions_are_as_many_calls(tmp_path: Path) -> None:
    said = [claude_line("user", "u1", None, {"content": "Again."})]
    for second in (2, 4, 6):
        parent = said[-1]["uuid"]
        said += [
            claude_said(f"a{second}", parent, f"msg_{second}", text("No.")),
            claude_line("user", f"u{second + 1}", f"a{second}", {"content": "Again."}),
        ]
    assert import_data(tmp_path, "s.jsonl", lines(*said)).calls == 3


def codex(tmp_path: Path, *rest: dict[str, Any]) -> Any:
    return import_data(tmp_path, "rollout.jsonl", lines(*codex_head(), *rest))


def item(second: int, value: dict[str, Any]) -> dict[str, Any]:
    return codex_line(second, "response_item", value)


def test_results_written_between_parallel_calls_do_not_make_two_model_calls_of_one(tmp_path: Path) -> None:
    got = codex(
        tmp_path,
        item(1, item_message("user", "Look.")),
        tokens(2),
        item(2, item_call("c1", "read", {"n": 1})),
        item(2, item_output("c1", "one")),
        item(2, item_call("c2", "read", {"n": 2})),
        item(2, item_output("c2", '{"output": "two", "metadata": {"exit_code": 0}}')),
        tokens(3),
        item(3, item_message("assistant", "Seen.")),
    )
    first, last = (got.trace.reply(call.request) for call in got.trace.calls)
    assert ([call.arguments for call in first.tool_calls], last.text) == ([{"n": 1}, {"n": 2}], "Seen.")
    assert tool_runs(got.trace)[1] == ("read", {"n": 2}, '{"output": "two", "metadata": {"exit_code": 0}}')


def test_a_rollout_with_its_instructions_lacks_tools_and_params_only(tmp_path: Path) -> None:
    got = codex(tmp_path, item(1, item_message("user", "Hi.")), item(2, item_message("assistant", "Hi.")), tokens(2))
    [body] = bodies(got.trace)
    assert body["reasoning"] == {"effort": "high", "summary": "auto"}
    assert body["instructions"]
    assert fidelities(got.trace)[0].missing == ("tools", "params")


def test_compaction_replaces_the_history_and_the_calls_before_it_stay(tmp_path: Path) -> None:
    got = codex(
        tmp_path,
        item(1, item_message("user", "A long story.")),
        item(2, item_message("assistant", "I see.")),
        tokens(2),
        codex_line(3, "compacted", {"message": "They told a story."}),
        item(4, item_message("user", "And then?")),
        item(5, item_message("assistant", "The end.")),
        tokens(5),
    )
    first, last = bodies(got.trace)
    assert json.dumps(first["input"]).count("A long story.") == 1
    assert "A long story." not in json.dumps(last["input"])
    assert "They told a story." in json.dumps(last["input"])
    assert "the history as it was compacted" in fidelities(got.trace)[-1].missing


def test_the_bare_form_of_old_rollouts_is_read(tmp_path: Path) -> None:
    data = lines(
        {"id": "r", "timestamp": at(0), "instructions": None, "git": {}},
        {"record_type": "state"},
        item_message("user", "Hi."),
        item_call("c1", "shell", {"command": ["ls"]}),
        item_output("c1", "a.txt"),
        item_message("assistant", "One file."),
    )
    got = import_data(tmp_path, "rollout.jsonl", data)
    assert (got.format["format"], got.calls) == ("codex", 2)
    assert fidelities(got.trace)[0].missing[:2] == ("system", "tools")
