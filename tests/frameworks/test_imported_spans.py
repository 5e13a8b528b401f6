"""Spans that real instrumentations write are imported, and the request is compared with the one that was sent.

Equal for an exact call; for a partial one what differs is what its label says. Each test is skipped where its packages
are not installed; `.ci/frameworks` installs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback
from traced_agents import TOOL, calls_of, chat, imported, messages, provider, responses, spelled_alike

pytestmark = pytest.mark.filterwarnings("default")  # the instrumentations' own


@pytest.fixture
def spans(tmp_path: Path) -> Iterator[tuple[Any, Path]]:
    """A tracer provider whose console exporter writes into a file, and the file."""
    trace = pytest.importorskip("opentelemetry.sdk.trace")
    export = pytest.importorskip("opentelemetry.sdk.trace.export")
    path = tmp_path / "spans.txt"
    with path.open("w", encoding="utf-8") as out:
        tracing = trace.TracerProvider()
        tracing.add_span_processor(export.SimpleSpanProcessor(export.ConsoleSpanExporter(out=out)))
        yield tracing, path
        tracing.shutdown()


def instrumented(name: str, tracing: Any, agent: Callable[[str], None]) -> list[Any]:
    """What the server was sent while an instrumentation was at work."""
    module, _, kind = name.rpartition(".")
    instrumentor = getattr(pytest.importorskip(module), kind)()
    instrumentor.instrument(tracer_provider=tracing)
    try:
        with Loopback(provider) as server:
            agent(server.url)
            return [received.body for received in server.requests]
    finally:
        instrumentor.uninstrument()


OPENINFERENCE = "openinference.instrumentation.openai.OpenAIInstrumentor"


@pytest.mark.parametrize(
    "agent", [chat, responses, lambda url: chat(url, image=True), lambda url: chat(url, stream=True)]
)
def test_openinference_of_openai_is_exact(
    spans: tuple[Any, Path], tmp_path: Path, agent: Callable[[str], None]
) -> None:
    tracing, path = spans
    sent = instrumented(OPENINFERENCE, tracing, agent)
    found = calls_of(imported(path, tmp_path / "traces"))
    assert [body for body, _, _ in found] == sent
    assert {fidelity.label for _, _, fidelity in found} == {"exact"}
    assert [call.arguments for call in found[0][1].tool_calls] == [{"order": "1"}, {"order": "2"}]


def test_openinference_of_anthropic_is_exact_with_thinking_and_cache_marks(
    spans: tuple[Any, Path], tmp_path: Path
) -> None:
    tracing, path = spans
    sent = instrumented("openinference.instrumentation.anthropic.AnthropicInstrumentor", tracing, messages)
    found = calls_of(imported(path, tmp_path / "traces"))
    assert [body for body, _, _ in found] == sent
    assert {fidelity.label for _, _, fidelity in found} == {"exact"}
    assert [call.arguments for call in found[0][1].tool_calls] == [{"order": "1"}, {"order": "2"}]


def test_openllmetry_of_openai_differs_by_what_its_label_says(spans: tuple[Any, Path], tmp_path: Path) -> None:
    tracing, path = spans
    sent = instrumented("opentelemetry.instrumentation.openai.OpenAIInstrumentor", tracing, chat)
    found = calls_of(imported(path, tmp_path / "traces"))
    assert len(found) == len(sent) == 2
    for (body, _, fidelity), truth in zip(found, sent, strict=True):
        assert fidelity.label == "partial"
        assert {"params", "strict"} >= set(fidelity.missing) >= {"params"}
        assert spelled_alike(body["messages"]) == spelled_alike(truth["messages"])
        assert body["tools"] == truth["tools"]
        assert body["temperature"] == truth["temperature"]
        assert truth.keys() - body.keys() <= {"seed"}
    assert [call.arguments for call in found[0][1].tool_calls] == [{"order": "1"}, {"order": "2"}]


def test_openllmetry_of_anthropic_says_that_reasoning_is_missing(spans: tuple[Any, Path], tmp_path: Path) -> None:
    tracing, path = spans
    sent = instrumented("opentelemetry.instrumentation.anthropic.AnthropicInstrumentor", tracing, messages)
    found = calls_of(imported(path, tmp_path / "traces"))
    assert len(found) == len(sent) == 2
    second, truth = found[1], sent[1]
    assert "reasoning" in second[2].missing
    kinds = [
        block["type"] for message in second[0]["messages"] for block in message["content"] if isinstance(block, dict)
    ]
    wanted = [block["type"] for message in truth["messages"] for block in message["content"] if isinstance(block, dict)]
    assert [kind for kind in wanted if kind != "thinking"] == [kind for kind in kinds if kind != "text"]


def test_langchain_by_openinference_is_rebuilt(spans: tuple[Any, Path], tmp_path: Path) -> None:
    tracing, path = spans
    module = pytest.importorskip("langchain_openai")

    def agent(url: str) -> None:
        module.ChatOpenAI(model="m", base_url=url, api_key="k", max_retries=0, temperature=0.5).bind_tools(
            [TOOL]
        ).invoke([("system", "Be quick."), ("user", "refund orders 1 and 2")])

    [sent] = instrumented("openinference.instrumentation.langchain.LangChainInstrumentor", tracing, agent)
    [(body, reply, fidelity)] = calls_of(imported(path, tmp_path / "traces"))
    assert fidelity.label in ("rebuilt", "partial")
    assert spelled_alike(body["messages"]) == spelled_alike(sent["messages"])
    assert body.get("tools") == sent["tools"] or "tools" in fidelity.missing
    assert len(reply.tool_calls) == 2


def test_langsmith_runs_of_langchain_are_rebuilt(tmp_path: Path) -> None:
    collector = pytest.importorskip("langchain_core.tracers.run_collector")
    module, said = pytest.importorskip("langchain_openai"), pytest.importorskip("langchain_core.messages")
    runs = collector.RunCollectorCallbackHandler(_schema_format="original+chat")
    with Loopback(provider) as server:
        model = module.ChatOpenAI(model="m", base_url=server.url, api_key="k", max_retries=0, temperature=0.5)
        asked: list[Any] = [said.SystemMessage("Be quick."), said.HumanMessage("refund orders 1 and 2")]
        for _ in range(2):
            reply = model.bind_tools([TOOL]).invoke(asked, config={"callbacks": [runs]})
            asked = [*asked, reply, *(said.ToolMessage("ok", tool_call_id=call["id"]) for call in reply.tool_calls)]
        sent = [received.body for received in server.requests]
    file = tmp_path / "runs.json"
    file.write_text("[" + ",".join(run.model_dump_json() for run in runs.traced_runs) + "]", encoding="utf-8")
    found = calls_of(imported(file, tmp_path / "traces"))
    assert {fidelity.label for _, _, fidelity in found} == {"rebuilt"}
    for (body, _, _), truth in zip(found, sent, strict=True):
        wanted = {key: value for key, value in truth.items() if key != "stream"}
        assert spelled_alike(body) == spelled_alike(wanted)
    assert [call.arguments for call in found[0][1].tool_calls] == [{"order": "1"}, {"order": "2"}]
