"""Logs, cassettes, sessions and results as other versions and recorders write them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from foreign_files import (
    ASKED,
    DONE,
    NOTE,
    SYSTEM,
    at,
    atif,
    chat_call,
    claude_said,
    codex_line,
    item_message,
    lines,
    swe_trajectory,
    tau2_result,
)
from import_door import Imported, bodies, fidelities, import_data, import_files, tool_runs
from refund_files import BODIES, REPLIES, TOOL, har

URL = "https://api.openai.com/v1/chat/completions"
REPLY: dict[str, Any] = REPLIES[0]


def imported(folder: Path, value: Any, name: str = "log.json") -> Imported:
    return import_data(folder, name, json.dumps(value).encode())


def text_of(got: Imported) -> str | None:
    return got.trace.reply(got.trace.calls[-1].request).text


def test_a_reply_that_is_only_a_text_is_a_reply(tmp_path: Path) -> None:
    assert text_of(imported(tmp_path, {**BODIES[0], "response": "Done."})) == "Done."


def test_what_a_log_notes_beside_a_request_is_no_part_of_it(tmp_path: Path) -> None:
    got = imported(tmp_path, {**BODIES[0], "usage": {}, "api_key": "k", "response": REPLY})
    assert bodies(got.trace) == [BODIES[0]]
    assert fidelities(got.trace)[0].label == "rebuilt"


def test_conversations_alone_are_runs(tmp_path: Path) -> None:
    talk = {"messages": [*BODIES[1]["messages"], {"role": "assistant", "content": DONE}], "tools": [TOOL]}
    got = import_data(tmp_path, "train.jsonl", lines(talk, talk))
    assert [len(trace.calls) for trace in got.traces] == [2, 2]
    assert bodies(got.traces[0])[1]["tools"] == [TOOL]
    assert fidelities(got.traces[0])[0].missing == ("params", "model")


@pytest.mark.parametrize(
    "url",
    [
        "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude/invoke",
        "https://us-east5-aiplatform.googleapis.com/v1/publishers/anthropic/models/claude-x:rawPredict",
        "http://127.0.0.1:11434/api/chat",
    ],
)
def test_calls_of_other_apis_in_an_archive_are_told_of(url: str, tmp_path: Path) -> None:
    got = import_data(tmp_path, "a.har", har().replace(URL, url).encode())
    assert got.calls == 0
    assert got.skipped["it is a model call of an API that cannot be rerun here"] == 2


@pytest.mark.parametrize("shape", ["python", "ruby", "pydantic-ai", "compressed"])
def test_cassettes_of_every_recorder_are_read(shape: str, tmp_path: Path) -> None:
    body, reply = json.dumps(BODIES[0]), json.dumps(REPLY)
    held: dict[str, tuple[Any, Any]] = {
        "python": ({"body": body}, {"body": {"string": reply}}),
        "ruby": ({"body": {"encoding": "UTF-8", "string": body}}, {"body": {"encoding": "UTF-8", "string": reply}}),
        "pydantic-ai": ({"parsed_body": BODIES[0]}, {"parsed_body": REPLY}),
        "compressed": ({"body": body.encode()}, {"body": {"string": gzip.compress(reply.encode())}}),
    }
    request, response = held[shape]
    method = "post" if shape == "ruby" else "POST"
    one = {"request": {"method": method, "uri": URL, **request}, "response": {"status": {"code": 200}, **response}}
    written = yaml.dump({"http_interactions" if shape == "ruby" else "interactions": [one]})
    got = import_data(tmp_path, "cassette.yaml", written.encode())
    assert bodies(got.trace) == [BODIES[0]]
    assert len(got.trace.reply(got.trace.calls[0].request).tool_calls) == 1


def litellm(**more: Any) -> dict[str, Any]:
    head = {"id": "1", "trace_id": "t", "call_type": "acompletion", "model": "m", "custom_llm_provider": "openai"}
    params = {"temperature": 0, "tools": [TOOL], "extra_body": {"top_k": 3}}
    return {**head, "messages": BODIES[0]["messages"], "model_parameters": params, "response": REPLY, **more}


def test_what_litellm_keeps_as_text_is_read(tmp_path: Path) -> None:
    spelled = {"messages": json.dumps(BODIES[0]["messages"]), "response": json.dumps(REPLY)}
    got = imported(tmp_path, litellm(**spelled))
    assert bodies(got.trace) == [{**BODIES[0], "top_k": 3}]
    assert len(got.trace.reply(got.trace.calls[0].request).tool_calls) == 1


def test_litellm_calls_of_another_api_say_so_and_name_no_server_for_a_rerun(tmp_path: Path) -> None:
    other = litellm(custom_llm_provider="anthropic", api_base="https://api.anthropic.com/v1/messages")
    got = imported(tmp_path, other)
    assert "not the API that it was sent to" in str(fidelities(got.trace)[0].why)
    assert got.trace.request(got.trace.calls[0].request).endpoint is None


def test_a_spend_log_of_litellm_is_its_proxied_request(tmp_path: Path) -> None:
    row = {"request_id": "x", "call_type": "acompletion", "model": "m", "spend": 0.1, "response": REPLY}
    got = imported(tmp_path, {**row, "messages": {}, "proxy_server_request": BODIES[0]})
    assert bodies(got.trace) == [BODIES[0]]


def test_text_completions_are_told_of(tmp_path: Path) -> None:
    assert imported(tmp_path, litellm(call_type="atext_completion")).calls == 0


def test_a_completion_log_of_responses_is_one(tmp_path: Path) -> None:
    reply = {"object": "response", "model": "m", "output": [{**item_message("assistant", DONE), "id": "i"}]}
    log = {"input": [item_message("user", ASKED)], "instructions": SYSTEM, "tools": [], "kwargs": {"store": False}}
    got = imported(tmp_path, {**log, "response": reply})
    assert bodies(got.trace)[0] == {"model": "m", "instructions": SYSTEM, "input": log["input"], "store": False}
    assert text_of(got) == DONE


def test_results_of_tau2_are_known_behind_many_tasks_and_know_their_agent(tmp_path: Path) -> None:
    result = tau2_result()
    result["tasks"] = [{"id": str(number), "description": "d" * 2000} for number in range(60)]
    got = imported(tmp_path, result)
    assert (got.format["format"], got.calls) == ("tau-bench", 3)
    assert {body["model"] for body in bodies(got.trace)} == {"gpt-x"}


def test_a_folder_of_tau2_tells_its_simulations_of_the_agent(tmp_path: Path) -> None:
    result = tau2_result()
    [simulation] = result.pop("simulations")
    (tmp_path / "run" / "simulations").mkdir(parents=True)
    (tmp_path / "run" / "results.json").write_text(json.dumps({**result, "simulations": []}), encoding="utf-8")
    (tmp_path / "run" / "simulations" / "a.json").write_text(json.dumps(simulation), encoding="utf-8")
    got = import_files(tmp_path, tmp_path / "run")
    assert {(body["model"], body["temperature"]) for body in bodies(got.trace)} == {("gpt-x", 0.0)}
    assert got.told["unread"] == []


def test_a_trajectory_that_begins_with_long_steps_is_known(tmp_path: Path) -> None:
    whole = swe_trajectory()
    steps = [{**step, "observation": "y" * 60_000} for step in whole["trajectory"]]
    got = imported(tmp_path, {"trajectory": steps, **{key: whole[key] for key in ("history", "info", "replay_config")}})
    assert (got.format["format"], got.calls) == ("swe-agent", 3)


def test_a_tool_call_without_a_result_is_missing_from_the_requests_behind_it(tmp_path: Path) -> None:
    whole = atif()
    first = whole["steps"][2]
    first["tool_calls"].append({"tool_call_id": "c9", "function_name": "read_note", "arguments": {}})
    labels = fidelities(imported(tmp_path, whole).trace)
    assert ["results of tool calls" in label.missing for label in labels] == [False, True, True]


def test_a_mini_trajectory_with_tool_calls_lacks_its_tools(tmp_path: Path) -> None:
    call = chat_call("c", "bash", {"command": "ls"})
    messages = [
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "a"},
        {"role": "assistant", "content": DONE},
    ]
    info = {"config": {"model": {"model_name": "openai/gpt-x"}}, "model_stats": {}}
    got = imported(tmp_path, {"info": info, "messages": messages, "trajectory_format": "mini-swe-agent-1.1"})
    assert [(label.missing, label.why) for label in fidelities(got.trace)] == [(("tools",), None)] * 2


def test_an_old_codex_session_in_one_object_is_read(tmp_path: Path) -> None:
    items = [item_message("user", ASKED), item_message("assistant", DONE)]
    got = imported(tmp_path, {"session": {"id": "x", "timestamp": at(1), "instructions": ""}, "items": items})
    assert (got.calls, bodies(got.trace)[0]["input"]) == (1, items[:1])


def test_what_codex_exec_prints_is_named_as_no_recording(tmp_path: Path) -> None:
    said = {"type": "item.completed", "item": {"id": "0", "type": "agent_message", "text": "hi"}}
    got = import_data(tmp_path, "out.jsonl", lines({"type": "thread.started", "thread_id": "x"}, said))
    assert got.status == 1
    assert "import the rollout" in got.told["reason"]


def test_after_remote_compaction_of_codex_the_sealed_summary_is_sent(tmp_path: Path) -> None:
    sealed = {"type": "compaction", "encrypted_content": "zz"}
    data = lines(
        codex_line(0, "session_meta", {"id": "r", "base_instructions": {"text": SYSTEM}}),
        codex_line(0, "turn_context", {"model": "gpt-x"}),
        codex_line(1, "response_item", item_message("user", ASKED)),
        codex_line(2, "response_item", item_message("assistant", "First.")),
        codex_line(3, "compacted", {"message": "", "replacement_history": [item_message("user", ASKED), sealed]}),
        codex_line(4, "response_item", item_message("user", "More.")),
        codex_line(5, "response_item", item_message("assistant", DONE)),
    )
    got = import_data(tmp_path, "rollout.jsonl", data)
    assert bodies(got.trace)[1]["input"] == [item_message("user", ASKED), sealed, item_message("user", "More.")]


def test_a_stream_of_claude_code_without_its_prompt_says_that_it_lacks_it(tmp_path: Path) -> None:
    said = [claude_said(f"a{number}", "x", f"m{number}", {"type": "text", "text": DONE}) for number in (1, 2)]
    bare = [{key: line[key] for key in ("type", "message", "uuid")} | {"session_id": "s"} for line in said]
    head = {"type": "system", "subtype": "init", "session_id": "s", "model": "claude-x"}
    labels = fidelities(import_data(tmp_path, "out.jsonl", lines(head, *bare)).trace)
    assert [label.label for label in labels] == ["not rebuildable", "partial"]
    assert "earlier messages" in labels[1].missing


def openhands(version: int) -> list[dict[str, Any]]:
    if version == 1:

        def text(said: str) -> dict[str, Any]:
            return {"type": "text", "text": said}

        def action(number: int, name: str, given: Any) -> dict[str, Any]:
            call = {"id": f"c{number}", "name": name, "arguments": json.dumps(given), "origin": "completion"}
            about = {"tool_name": name, "tool_call_id": f"c{number}", "tool_call": call, "llm_response_id": "r1"}
            return {
                "kind": "ActionEvent",
                "source": "agent",
                "thought": [] if number > 1 else [text("I look")],
                **about,
            }

        def saw(number: int, name: str, said: str) -> dict[str, Any]:
            about = {"tool_name": name, "tool_call_id": f"c{number}"}
            return {
                "kind": "ObservationEvent",
                "source": "environment",
                "observation": {"content": [text(said)]},
                **about,
            }

        events: list[dict[str, Any]] = [
            {"kind": "SystemPromptEvent", "source": "agent", "system_prompt": text(SYSTEM), "tools": [TOOL]},
            {"kind": "MessageEvent", "source": "user", "llm_message": {"role": "user", "content": [text(ASKED)]}},
            action(1, "read_note", {"name": "todo"}),
            action(2, "delete_all", {"path": "/"}),
            saw(1, "read_note", NOTE),
            saw(2, "delete_all", "ok"),
            {"kind": "ConversationStateUpdateEvent", "source": "environment", "key": "k", "value": 1},
            {"kind": "MessageEvent", "source": "agent", "llm_message": {"role": "assistant", "content": [text(DONE)]}},
        ]
        return [{"id": str(number), "timestamp": at(number), **event} for number, event in enumerate(events)]
    calls = [chat_call("c1", "read_note", {"name": "todo"}), chat_call("c2", "delete_all", {"path": "/"})]
    message = {"role": "assistant", "content": "I look", "tool_calls": calls}
    raw = {"id": "r1", "model": "gpt-x", "choices": [{"index": 0, "message": message}]}
    about = [
        {"function_name": name, "tool_call_id": id_, "model_response": raw}
        for name, id_ in (("read_note", "c1"), ("delete_all", "c2"))
    ]
    events = [
        {"source": "agent", "action": "system", "args": {"content": SYSTEM, "tools": [TOOL]}},
        {"source": "user", "action": "message", "args": {"content": ASKED}},
        {"source": "agent", "action": "read", "args": {}, "tool_call_metadata": about[0]},
        {"source": "agent", "observation": "read", "content": NOTE, "tool_call_metadata": about[0]},
        {"source": "agent", "action": "run", "args": {}, "tool_call_metadata": about[1]},
        {"source": "agent", "observation": "run", "content": "ok", "tool_call_metadata": about[1]},
        {"source": "environment", "observation": "agent_state_changed", "content": "", "extras": {}}
        | {"observation": "null"},
        {"source": "agent", "action": "message", "args": {"content": DONE}},
    ]
    return [{"id": number, "timestamp": at(number), "message": "", **event} for number, event in enumerate(events)]


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("apart", [False, True])
def test_events_of_openhands_are_the_calls_that_they_tell_of(apart: bool, version: int, tmp_path: Path) -> None:
    folder = tmp_path / "session"
    folder.mkdir()
    events = openhands(version)
    if apart:
        for number, event in enumerate(events):
            name = f"event-{number:05d}-x.json" if version else f"{number}.json"
            (folder / name).write_text(json.dumps(event), encoding="utf-8")
    else:
        (folder / "events.json").write_text(json.dumps(events), encoding="utf-8")
    got = import_files(tmp_path, folder)
    assert (got.format["format"], got.calls) == ("openhands", 2)
    first, second = bodies(got.trace)
    assert first["messages"] == [{"role": "system", "content": SYSTEM}, {"role": "user", "content": ASKED}]
    assert first["tools"] == [TOOL]
    assert [message["role"] for message in second["messages"][2:]] == ["assistant", "tool", "tool"]
    assert tool_runs(got.trace) == [("read_note", {"name": "todo"}, NOTE), ("delete_all", {"path": "/"}, "ok")]
    assert text_of(got) == DONE
