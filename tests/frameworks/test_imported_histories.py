"""What real frameworks keep of a run, imported: each request against the one that was sent.

They are equal but for what the fidelity label names as missing. Each test is skipped where its framework is not
installed.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, Loopback, Received

import runtape
from runtape.cli.main import run
from runtape.trace.fidelity import Fidelity, fidelity_in
from runtape.wire.dialects import dialect_for
from runtape.wire.sse import encode

pytestmark = pytest.mark.filterwarnings("default")  # the frameworks' own

PARTS = {"tools": ("tools", "tool_choice"), "system": ("system", "instructions"), "model": ("model",)}
CONTENT = ("model", "messages", "input", "system", "instructions", "tools")
"""Keys of a body that are no settings."""


def refund(order: str) -> str:
    """Refund an order."""
    return f"refunded {order}"


def two_calls(received: Received) -> Answer:
    """Refunds orders 7 and 8 at once, then says that it is done."""
    body = received.body
    text = json.dumps(body.get("messages", body.get("input")))
    done = "refunded 7" in text
    usage = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
    orders = [("c1", {"order": "7"}), ("c2", {"order": "8"})]
    if received.path.endswith("/messages"):
        api = "messages"
        uses = [{"type": "tool_use", "id": id_, "name": "refund", "input": given} for id_, given in orders]
        thought = {"type": "thinking", "thinking": "Two orders.", "signature": "c2ln"}
        blocks: list[Any] = [{"type": "text", "text": "done"}] if done else [thought, *uses]
        head = {"id": f"msg_{received.index}", "type": "message", "role": "assistant", "model": "m"}
        stop = {"stop_reason": "end_turn" if done else "tool_use", "stop_sequence": None}
        answer: dict[str, Any] = {**head, **stop, "content": blocks, "usage": usage}
    elif received.path.endswith("/responses"):
        api = "responses"
        output: list[Any] = [
            {"type": "function_call", "id": f"f{id_}", "call_id": id_, "status": "completed", "name": "refund"}
            | {"arguments": json.dumps(given)}
            for id_, given in orders
        ]
        if done:
            content: list[Any] = [{"type": "output_text", "text": "done", "annotations": [], "logprobs": []}]
            output = [{"type": "message", "id": "i1", "role": "assistant", "status": "completed", "content": content}]
        head = {"id": f"resp_{received.index}", "object": "response", "created_at": 1, "model": "m"}
        rest: dict[str, Any] = {"status": "completed", "tools": [], "tool_choice": "auto", "parallel_tool_calls": True}
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        answer = {**head, **rest, "output": output, "usage": {**usage, **details}}
    else:
        api = "chat.completions"
        calls = [
            {"id": id_, "type": "function", "function": {"name": "refund", "arguments": json.dumps(given)}}
            for id_, given in orders
        ]
        message: dict[str, Any] = {"role": "assistant", "content": "done" if done else None}
        if not done:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": "stop" if done else "tool_calls"}
        counts = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
        head = {"id": f"chatcmpl-{received.index}", "object": "chat.completion", "created": 1, "model": "m"}
        answer = {**head, "choices": [choice], "usage": counts}
    if not body.get("stream"):
        return Answer(answer)
    return Answer(chunks=[encode(event) for event in dialect_for(api).streamed(answer, complete=True)])


@pytest.fixture(autouse=True)
def _clients_are_collected() -> Iterator[None]:
    """The frameworks leave connections open; collected here, their warnings belong to the test that made them."""
    yield
    gc.collect()


def server() -> Loopback:
    """A provider on 127.0.0.1."""
    return Loopback(two_calls)


def imported(tmp_path: Path, file: Path) -> runtape.Trace:
    """The one trace that the file gives."""
    out = tmp_path / "imported"
    assert run(["import", str(file), "-o", str(out)]) == 0
    [path] = out.glob("*.jsonl")
    return runtape.load(path)


def without(body: dict[str, Any], label: Fidelity) -> dict[str, Any]:
    """A body that was sent, without what the label names; how it travelled is no part of it."""
    kept = {key: value for key, value in body.items() if key not in {"stream", "stream_options"}}
    for part in label.missing:
        for key in PARTS.get(part, ()):
            kept.pop(key, None)
        if part == "params":
            kept = {key: value for key, value in kept.items() if key in CONTENT}
        if part == "system" and "messages" in kept:
            kept["messages"] = [message for message in kept["messages"] if message["role"] != "system"]
    return kept


def assert_equal_but_for_the_label(trace: runtape.Trace, sent: list[Received]) -> None:
    """Every request against the one that the server saw."""
    assert len(trace.calls) == len(sent)
    for call, received in zip(trace.calls, sent, strict=True):
        label = fidelity_in(call.request.meta)
        assert label.missing or label.label == "rebuilt"
        assert trace.request(call.request).body == without(received.body, label)
    first, last = trace.calls[0], trace.calls[-1]
    assert [call.arguments for call in trace.reply(first.request).tool_calls] == [{"order": "7"}, {"order": "8"}]
    assert trace.reply(last.request).text == "done"
    runs = [event.payload.get("result") for event in trace.events if event.type == "tool_result"]
    assert sorted(map(str, runs)) == ["refunded 7", "refunded 8"]


def pydantic_model(kind: str, running: Loopback) -> Any:
    """A model of pydantic-ai that asks the server."""
    pytest.importorskip("pydantic_ai")
    if kind == "messages":
        module = pytest.importorskip("pydantic_ai.models.anthropic")
        providers = pytest.importorskip("pydantic_ai.providers.anthropic")
        return module.AnthropicModel("m", provider=providers.AnthropicProvider(base_url=running.root, api_key="k"))
    module = pytest.importorskip("pydantic_ai.models.openai")
    providers = pytest.importorskip("pydantic_ai.providers.openai")
    provider = providers.OpenAIProvider(base_url=running.url, api_key="k")
    made = module.OpenAIResponsesModel if kind == "responses" else module.OpenAIChatModel
    return made("m", provider=provider)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("kind", ["chat", "responses", "messages"])
def test_a_pydantic_ai_history_rebuilds_the_requests(kind: str, streamed: bool, tmp_path: Path) -> None:
    pydantic_ai = pytest.importorskip("pydantic_ai")
    with server() as running:
        agent = pydantic_ai.Agent(
            pydantic_model(kind, running), system_prompt="Be kind.", instructions="Be brief.", tools=[refund]
        )
        prompt = ["Refund orders 7 and 8.", pydantic_ai.BinaryContent(b"\xfb\xef\xbe png", media_type="image/png")]
        if streamed:
            with agent.run_stream_sync(prompt) as result:
                result.get_output()
        else:
            result = agent.run_sync(prompt)
        file = tmp_path / "history.json"
        file.write_bytes(result.all_messages_json())
    assert_equal_but_for_the_label(imported(tmp_path, file), running.requests)


@pytest.mark.parametrize("kind", ["chat", "responses"])
@pytest.mark.parametrize("kept", ["database", "items"])
def test_a_session_of_the_agents_sdk_rebuilds_the_requests(kind: str, kept: str, tmp_path: Path) -> None:
    agents = pytest.importorskip("agents")
    openai = pytest.importorskip("openai")
    agents.set_tracing_disabled(True)
    file = tmp_path / "session.db"
    with server() as running:
        client = openai.AsyncOpenAI(base_url=running.url, api_key="k")
        made = agents.OpenAIResponsesModel if kind == "responses" else agents.OpenAIChatCompletionsModel
        agent = agents.Agent(
            name="a",
            model=made(model="m", openai_client=client),
            instructions="Be kind.",
            tools=[agents.function_tool(refund)],
        )
        session = agents.SQLiteSession("s", file)
        picture = {"type": "input_image", "image_url": "data:image/png;base64,YWJj", "detail": "auto"}
        text = {"type": "input_text", "text": "Refund orders 7 and 8."}
        result = agents.Runner.run_sync(agent, [{"role": "user", "content": [text, picture]}], session=session)
        session.close()
    if kept == "items":
        file = tmp_path / "items.json"
        file.write_text(json.dumps(result.to_input_list()), encoding="utf-8")
    assert_equal_but_for_the_label(imported(tmp_path, file), running.requests)


@pytest.mark.parametrize("kind", ["chat", "responses"])
def test_a_trace_of_the_agents_sdk_rebuilds_chat_requests_and_says_why_not_responses(kind: str, tmp_path: Path) -> None:
    agents = pytest.importorskip("agents")
    openai = pytest.importorskip("openai")
    file = tmp_path / "spans.jsonl"

    class Writer(agents.tracing.TracingProcessor):  # type: ignore[misc, name-defined]
        def on_trace_start(self, trace: Any) -> None:
            pass

        def on_trace_end(self, trace: Any) -> None:
            self._write(trace)

        def on_span_start(self, span: Any) -> None:
            pass

        def on_span_end(self, span: Any) -> None:
            self._write(span)

        def shutdown(self) -> None:
            pass

        def force_flush(self) -> None:
            pass

        def _write(self, thing: Any) -> None:
            with file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(thing.export()) + "\n")

    agents.set_tracing_disabled(False)
    agents.set_trace_processors([Writer()])
    try:
        with server() as running:
            client = openai.AsyncOpenAI(base_url=running.url, api_key="k")
            made = agents.OpenAIResponsesModel if kind == "responses" else agents.OpenAIChatCompletionsModel
            settings = agents.ModelSettings(temperature=0.5)
            agent = agents.Agent(
                name="a",
                model=made(model="m", openai_client=client),
                model_settings=settings,
                instructions="Be kind.",
                tools=[agents.function_tool(refund)],
            )
            agents.Runner.run_sync(agent, "Refund orders 7 and 8.")
    finally:
        agents.set_trace_processors([])
        agents.set_tracing_disabled(True)
    trace = imported(tmp_path, file)
    labels = [fidelity_in(call.request.meta) for call in trace.calls]
    if kind == "responses":
        assert {label.label for label in labels} == {"not rebuildable"}
        assert all("holds only the response's id" in str(label.why) for label in labels)
    else:
        assert {label.missing for label in labels} == {("tools", "params")}
        assert [trace.request(call.request).body["temperature"] for call in trace.calls] == [0.5, 0.5]
        for call, received in zip(trace.calls, running.requests, strict=True):
            body = trace.request(call.request).body
            assert body["messages"] == received.body["messages"]
            assert body["model"] == received.body["model"]
