"""Spans, observations and runs as other versions, SDKs and backends write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from import_door import Imported, bodies, fidelities, import_data, tool_runs
from refund_files import TOOL, otlp, span

CHAT = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "m"}
ASKED: list[Any] = [{"role": "user", "parts": [{"type": "text", "content": "hi é"}]}]
IN = {"gen_ai.input.messages": json.dumps(ASKED)}
SAID = {"role": "assistant", "content": "yo"}


def imported(folder: Path, value: Any) -> Imported:
    return import_data(folder, "recording.json", json.dumps(value).encode())


def spans(folder: Path, *attributes: dict[str, Any], scope: str = "s") -> Imported:
    listed = [span(number, "chat m", each) for number, each in enumerate(attributes)]
    return import_data(folder, "spans.json", otlp(listed, scope).encode())


def raw_reply(got: Imported) -> Any:
    trace = got.trace
    return next(event.payload["raw"] for event in trace.events if event.type == "llm_response")


def part(kind: str, text: str, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "parts": [{"type": kind, "content": text, **more}]}


def test_each_of_several_choices_keeps_its_own_tool_calls(tmp_path: Path) -> None:
    call: dict[str, Any] = {"type": "tool_call", "id": "z", "name": "t", "arguments": {"x": 1}}
    out = [
        {**part("text", "a"), "finish_reason": "stop"},
        {"role": "assistant", "parts": [call], "finish_reason": "tool_call"},
    ]
    choices = raw_reply(spans(tmp_path, {**CHAT, **IN, "gen_ai.output.messages": json.dumps(out)}))["choices"]
    assert [(choice["index"], choice["finish_reason"]) for choice in choices] == [(0, "stop"), (1, "tool_calls")]
    assert ["tool_calls" in choice["message"] for choice in choices] == [False, True]


def test_a_reply_in_pieces_without_ends_is_one(tmp_path: Path) -> None:
    call: dict[str, Any] = {"type": "tool_call", "id": "z", "name": "t", "arguments": {}}
    out = [part("text", "I look"), {"role": "assistant", "parts": [call]}]
    [choice] = raw_reply(spans(tmp_path, {**CHAT, **IN, "gen_ai.output.messages": json.dumps(out)}))["choices"]
    assert (choice["message"]["content"], len(choice["message"]["tool_calls"])) == ("I look", 1)


def test_sounds_are_sounds_and_what_has_no_place_is_told_of(tmp_path: Path) -> None:
    parts = [
        {"type": "blob", "mime_type": "audio/wav", "modality": "audio", "content": "AAAA"},
        {"type": "blob", "mime_type": "video/mp4", "modality": "video", "content": "AAAA"},
        {"type": "uri", "modality": "image", "uri": "http://x/y.png"},
    ]
    got = spans(tmp_path, {**CHAT, "gen_ai.input.messages": json.dumps([{"role": "user", "parts": parts}])})
    [body] = bodies(got.trace)
    assert [item["type"] for item in body["messages"][0]["content"]] == ["input_audio", "image_url"]
    assert "content of type video" in fidelities(got.trace)[0].missing


def test_instructions_of_responses_are_no_message(tmp_path: Path) -> None:
    system = json.dumps([{"type": "text", "content": "Be quick."}])
    got = spans(tmp_path, {**CHAT, **IN, "openai.api.type": "responses", "gen_ai.system_instructions": system})
    [body] = bodies(got.trace)
    assert (body["instructions"], body["input"]) == ("Be quick.", [{"role": "user", "content": "hi é"}])


@pytest.mark.parametrize("provider", ["gcp.gemini", "aws.bedrock", "cohere"])
def test_a_call_of_another_api_says_that_its_shape_is_not_what_was_sent(provider: str, tmp_path: Path) -> None:
    got = spans(tmp_path, {**CHAT, **IN, "gen_ai.provider.name": provider})
    assert "not the API that it was sent to" in str(fidelities(got.trace)[0].why)


def test_numbered_definitions_of_anthropic_keep_their_schema(tmp_path: Path) -> None:
    flat = {"llm.request.type": "chat", "gen_ai.system": "Anthropic", "gen_ai.request.model": "c"}
    asked = {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "q"}
    tool = {"llm.request.functions.0.name": "x", "llm.request.functions.0.input_schema": '{"type": "object"}'}
    [body] = bodies(spans(tmp_path, {**flat, **asked, **tool}).trace)
    assert body["tools"] == [{"name": "x", "input_schema": {"type": "object"}}]


def test_a_log_record_that_repeats_its_span_is_a_call_of_its_own(tmp_path: Path) -> None:
    out = json.dumps([{**part("text", "yo"), "finish_reason": "stop"}])
    attributes = {**CHAT, "gen_ai.input.messages": ASKED, "gen_ai.output.messages": json.loads(out)}
    record = {"body": None, "trace_id": "0x1a", "span_id": "0x2b", "attributes": attributes}
    got = imported(tmp_path, {**record, "event_name": "gen_ai.client.inference.operation.details"})
    assert (got.calls, got.skipped) == (1, {})
    assert bodies(got.trace)[0] == {"model": "m", "messages": [{"role": "user", "content": "hi é"}]}


def test_a_request_without_a_model_lacks_it(tmp_path: Path) -> None:
    attributes = {key: value for key, value in CHAT.items() if "model" not in key}
    got = spans(tmp_path, {**attributes, **IN, "gen_ai.response.id": "r"})
    assert "model" in fidelities(got.trace)[0].missing


def one_span() -> Any:
    return json.loads(otlp([span(0, "chat m", {**CHAT, **IN})], "s"))["resourceSpans"]


def phoenix(attributes: Any) -> dict[str, Any]:
    times = {"start_time": "2026-01-01T00:00:00+00:00", "end_time": "2026-01-01T00:00:01+00:00"}
    ids = {"context": {"trace_id": "t1", "span_id": "s1"}, "parent_id": None, "span_kind": "LLM"}
    return {"name": "LLM", **ids, **times, "status_code": "OK", "attributes": attributes}


PHOENIX = {"llm.model_name": "m", "llm.input_messages": [{"message.role": "user", "message.content": "hi é"}]}


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda: {"batches": one_span()}, id="tempo"),
        pytest.param(lambda: {"trace": {"resourceSpans": one_span()}}, id="tempo 2"),
        pytest.param(lambda: {"data": [phoenix(PHOENIX)], "next_cursor": None}, id="phoenix"),
    ],
)
def test_answers_of_backends_are_read(answer: Any, tmp_path: Path) -> None:
    [body] = bodies(imported(tmp_path, answer()).trace)
    assert body["messages"] == [{"role": "user", "content": "hi é"}]


def test_langfuses_own_spans_are_its_observations(tmp_path: Path) -> None:
    of = "langfuse.observation."
    call = {f"{of}type": "generation", f"{of}input": json.dumps([{"role": "user", "content": "q"}])}
    call |= {f"{of}output": json.dumps(SAID), f"{of}model.name": "m", f"{of}model.parameters": '{"temperature": 0}'}
    got = spans(tmp_path, call, {f"{of}type": "tool", f"{of}input": '{"a": 1}', f"{of}output": "r"})
    assert bodies(got.trace) == [{"model": "m", "temperature": 0, "messages": [{"role": "user", "content": "q"}]}]
    assert tool_runs(got.trace) == [("chat m", {"a": 1}, "r")]


def observation(number: int, **more: Any) -> dict[str, Any]:
    times = {key: f"2026-01-02T03:04:{number:02d}.{part}Z" for key, part in (("startTime", "0"), ("endTime", "9"))}
    return {"id": f"o{number}", "traceId": "t", "type": "GENERATION", "name": "chat", "model": "m", **times, **more}


def trace(*observations: Any) -> dict[str, Any]:
    return {"trace": {"id": "t", "name": "n"}, "observations": list(observations)}


def test_messages_with_parts_of_responses_are_items(tmp_path: Path) -> None:
    asked = [{"role": "user", "content": [{"type": "input_text", "text": "q"}]}]
    answer: dict[str, Any] = {"object": "response", "output": [{"type": "message", "role": "assistant", "content": []}]}
    got = imported(tmp_path, trace(observation(1, input=asked, output=answer)))
    assert bodies(got.trace)[0]["input"] == asked


def test_a_gemini_request_is_named_as_one(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"model": "gemini", "contents": [{"role": "user", "parts": [{"text": "q"}]}], "config": {}}
    said = {"content": {"parts": [{"text": "yo"}], "role": "model"}}
    got = imported(tmp_path, trace(observation(1, input=asked, output=said)))
    [label] = fidelities(got.trace)
    assert (label.label, label.why) == ("not rebuildable", "a Gemini request, which cannot be rerun here")
    assert got.trace.reply(got.trace.calls[0].request).text == "yo"


def test_blocks_of_one_reply_of_the_claude_agent_sdk_are_one_call(tmp_path: Path) -> None:
    def turn(number: int, *blocks: Any) -> dict[str, Any]:
        answer = {"id": "msg", "type": "message", "role": "assistant", "content": list(blocks)}
        asked = {"system": "S", "max_tokens": 9, "messages": [{"role": "user", "content": "q"}]}
        about = {"name": "claude.assistant.turn", "model": "claude-x", "parentObservationId": "root"}
        return observation(number, input=asked, output=answer, **about)

    use: dict[str, Any] = {"type": "tool_use", "id": "u1", "name": "x", "input": {}}
    ran = observation(4, type="TOOL", name="x", input={}, output="r", parentObservationId="root")
    text = {"type": "text", "text": "I look"}
    got = imported(tmp_path, trace(turn(1, text), turn(2, use), turn(3, {**use, "id": "u2"}), ran, turn(5, text)))
    assert got.calls == 2
    assert [len(got.trace.reply(call.request).tool_calls) for call in got.trace.calls] == [2, 0]
    assert got.skipped["a further block of the reply before it"] == 2


def test_observations_that_are_ids_only_are_told_of(tmp_path: Path) -> None:
    page = {"id": "t", "projectId": "p", "name": "x", "timestamp": "2026-01-01", "observations": ["o1", "o2"]}
    got = imported(tmp_path, {"data": [page], "meta": {}})
    assert got.skipped == {"its observations are ids only; fetch the trace with them": 1}


def lc(kind: str, **kwargs: Any) -> dict[str, Any]:
    return {"lc": 1, "type": "constructor", "id": ["langchain", kind], "kwargs": kwargs}


def ls_run(**more: Any) -> dict[str, Any]:
    params = {"model": "m", "use_responses_api": False, "tools": [TOOL]}
    extra = {"invocation_params": params, "metadata": {"ls_provider": "openai"}}
    times = {"start_time": "2026-01-02T03:04:05", "end_time": "2026-01-02T03:04:06"}
    return {"id": "r", "trace_id": "t", "run_type": "llm", "name": "Chat", **times, "extra": extra, **more}


def ls_said(*texts: str) -> list[Any]:
    return [{"text": text, "message": lc("AIMessage", content=text)} for text in texts]


def test_requests_that_were_made_at_once_are_a_call_each(tmp_path: Path) -> None:
    asked = [[lc("HumanMessage", content=text)] for text in ("one", "two")]
    got = imported(
        tmp_path, [ls_run(inputs={"messages": asked}, outputs={"generations": [ls_said("1"), ls_said("2")]})]
    )
    assert [body["messages"][0]["content"] for body in bodies(got.trace)] == ["one", "two"]
    assert [got.trace.reply(call.request).text for call in got.trace.calls] == ["1", "2"]
    assert all("use_responses_api" not in body for body in bodies(got.trace))


def test_every_generation_of_a_run_is_a_choice(tmp_path: Path) -> None:
    inputs = {"messages": [[lc("HumanMessage", content="q")]]}
    got = imported(tmp_path, [ls_run(inputs=inputs, outputs={"generations": [ls_said("1", "2")]})])
    assert [choice["message"]["content"] for choice in raw_reply(got)["choices"]] == ["1", "2"]


def test_a_failed_tool_keeps_its_mark_for_anthropic(tmp_path: Path) -> None:
    call = lc("AIMessage", content="", tool_calls=[{"name": "x", "args": {}, "id": "a"}])
    failed = lc("ToolMessage", content="no", tool_call_id="a", status="error")
    extra = {"invocation_params": {"model": "claude"}, "metadata": {"ls_provider": "anthropic"}}
    inputs = {"messages": [[lc("HumanMessage", content="q"), call, failed]]}
    [body] = bodies(imported(tmp_path, [ls_run(inputs=inputs, extra=extra)]).trace)
    assert body["messages"][2]["content"][0]["is_error"] is True


def test_a_run_without_inputs_is_a_call_that_cannot_be_rebuilt(tmp_path: Path) -> None:
    got = imported(tmp_path, [ls_run()])
    assert (got.calls, fidelities(got.trace)[0].label) == (1, "not rebuildable")
