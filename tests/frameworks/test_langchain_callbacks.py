"""`rec.langchain()` records models that no HTTP client of ours sees, and tool runs; nothing twice."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from frameworks_server import ARGUMENTS, provider
from loopback import Answer, Loopback, Received, chat_reply

import runtape

messages: Any = pytest.importorskip("langchain_core.messages")
models: Any = pytest.importorskip("langchain_core.language_models.fake_chat_models")
tools: Any = pytest.importorskip("langchain_core.tools")
pytestmark = pytest.mark.filterwarnings("default")  # the framework's own


def refund(order: str) -> str:
    """Refund an order."""
    return f"refunded {order}"


def scripted(*replies: Any) -> Any:
    """A chat model that sends nothing anywhere."""
    return models.GenericFakeChatModel(messages=iter(replies))


def asking() -> Any:
    call = {"name": "refund", "args": ARGUMENTS, "id": "c1"}
    used = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
    return messages.AIMessage(content="", tool_calls=[call], usage_metadata=used)


def conversation() -> list[Any]:
    call = {"name": "look_up", "args": {"a": 1}, "id": "c0"}
    spoken = messages.AIMessage(content="one moment", tool_calls=[call])
    return [
        messages.SystemMessage("be kind"),
        messages.HumanMessage("refund 7"),
        spoken,
        messages.ToolMessage("found", tool_call_id="c0"),
    ]


def test_a_model_without_http_is_recorded_with_its_tools_and_can_be_asked_why(tmp_path: Path) -> None:
    with runtape.record(tmp_path / "run.jsonl") as recorder:
        definitions: Any = [{"type": "function", "function": {"name": "refund", "description": "Refund an order."}}]
        model = scripted(asking()).bind(tools=definitions)
        model.invoke(conversation(), config={"callbacks": [recorder.langchain()]})
    trace = runtape.load(tmp_path / "run.jsonl")
    (call,) = trace.calls
    body: Any = trace.request(call.request).body
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "tool"]
    assert body["messages"][2]["tool_calls"][0]["function"]["name"] == "look_up"
    assert body["tools"] == definitions
    assert call.response is not None
    assert call.response.meta["tokens"] == {"input": 3, "output": 2}

    def never_refunds(request: Any) -> Any:
        kept = any("refund 7" in str(message.get("content")) for message in request["messages"])
        return {"text": None, "tool_calls": [{"name": "refund", "arguments": ARGUMENTS}]} if kept else "no"

    report = runtape.why(trace, "last", model=never_refunds, cache_dir=None)
    assert report.headline == ["refund 7"]


def test_tool_runs_are_linked_to_the_call_that_asked_by_its_id(tmp_path: Path) -> None:
    shown = tools.tool(refund)
    calls = [{"name": "refund", "args": ARGUMENTS, "id": id_, "type": "tool_call"} for id_ in ("c1", "c2")]
    with runtape.record(tmp_path / "run.jsonl") as recorder:
        config = {"callbacks": [recorder.langchain()]}
        scripted(messages.AIMessage(content="", tool_calls=calls)).invoke("x", config=config)
        for call in reversed(calls):
            assert shown.invoke(call, config=config).content == "refunded 7"
    events = runtape.load(tmp_path / "run.jsonl").events
    runs = [event for event in events if event.type == "tool_call"]
    assert [event.payload["call_id"] for event in runs] == ["c2", "c1"]
    assert [event.payload["result"] for event in events if event.type == "tool_result"] == ["refunded 7"] * 2


@pytest.mark.parametrize("way", ["invoke", "stream", "ainvoke"])
def test_a_wrapped_model_and_a_decorated_tool_are_recorded_once(tmp_path: Path, way: str) -> None:
    openai = pytest.importorskip("langchain_openai")
    with Loopback(provider) as server, runtape.record(tmp_path / "run.jsonl") as recorder:
        model = recorder.wrap(openai.ChatOpenAI(model="m", base_url=server.url, api_key="k", max_retries=0))
        config: Any = {"callbacks": [recorder.langchain()]}
        if way == "invoke":
            model.invoke("refund 7", config=config)
        elif way == "stream":
            list(model.stream("refund 7", config=config))
        else:
            asyncio.run(model.ainvoke("refund 7", config=config))
        tools.tool(recorder.tool(refund)).invoke(ARGUMENTS, config=config)
    kinds = [event.type for event in runtape.load(tmp_path / "run.jsonl").events]
    assert kinds == ["run_start", "llm_request", "llm_response", "tool_call", "tool_result", "run_end"]


def test_errors_and_calls_still_running_are_recorded(tmp_path: Path) -> None:
    def fails(order: str) -> str:
        """Fail."""
        raise ValueError(order)

    recorder = runtape.record(tmp_path / "run.jsonl")
    config: Any = {"callbacks": [recorder.langchain()]}
    with pytest.raises(StopIteration):
        scripted().invoke("x", config=config)
    with pytest.raises(ValueError, match="7"):
        tools.tool(fails).invoke(ARGUMENTS, config=config)
    stream = scripted(messages.AIMessage(content="one two")).stream("x", config=config)
    next(stream)
    recorder.close()
    stream.close()
    trace = runtape.load(tmp_path / "run.jsonl")
    errors = [event.payload["error"] for event in trace.events if "error" in event.payload]
    assert [error["type"] for error in errors] == ["StopIteration", "ValueError", "run closed"]  # type: ignore[index, call-overload]


def test_a_handler_that_is_switched_off_does_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNTAPE_DISABLED", "1")
    recorder = runtape.record(tmp_path / "run.jsonl")
    assert scripted(asking()).invoke("x", config={"callbacks": [recorder.langchain()]}).tool_calls
    assert not (tmp_path / "run.jsonl").exists()


def twice_then_done(received: Received) -> Answer:
    """Asks for two tools at once, one of them twice with equal arguments; answers when it has their results."""
    results = [message for message in received.body["messages"] if message["role"] == "tool"]
    calls: list[tuple[str, Any]] = [("refund", ARGUMENTS), ("look_up", ARGUMENTS), ("refund", ARGUMENTS)]
    return Answer(chat_reply("done") if results else chat_reply(calls=calls))


def look_up(order: str) -> str:
    """Look an order up."""
    return f"order {order}"


def test_equal_parallel_calls_of_a_graph_are_different_runs_and_its_tools_are_in_the_request(tmp_path: Path) -> None:
    openai, agents = pytest.importorskip("langchain_openai"), pytest.importorskip("langchain.agents")
    pytest.importorskip("langgraph")
    with Loopback(twice_then_done) as server, runtape.record(tmp_path / "run.jsonl") as recorder:
        model = recorder.wrap(openai.ChatOpenAI(model="m", base_url=server.url, api_key="k", max_retries=0))
        agent = agents.create_agent(model, tools=[refund, look_up])
        config: Any = {"callbacks": [recorder.langchain()]}
        agent.invoke({"messages": [{"role": "user", "content": "refund order 7"}]}, config=config)
        sent = [request.body for request in server.requests]
    trace = runtape.load(tmp_path / "run.jsonl")
    assert [trace.request(call.request).body for call in trace.calls] == sent
    assert [tool["function"]["name"] for tool in sent[0]["tools"]] == ["refund", "look_up"]
    runs = [event for event in trace.events if event.type == "tool_call"]
    asked = trace.calls[0].response
    assert asked is not None
    assert {event.meta["requested_by"] for event in runs} == {asked.id}
    assert sorted((str(event.payload["call_id"]), event.payload["name"]) for event in runs) == [
        ("call_0", "refund"),
        ("call_1", "look_up"),
        ("call_2", "refund"),
    ]
