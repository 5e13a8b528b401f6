"""Agents built with the real frameworks are recorded whole, and replayed, with no code of their own.

Each test is skipped where its framework is not installed; `.ci/frameworks` installs them all and runs this folder.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from frameworks_server import ARGUMENTS, provider
from loopback import Loopback

import runtape

pytestmark = pytest.mark.filterwarnings("default")  # the frameworks' own


@pytest.fixture(autouse=True)
def what_a_framework_leaves_open_is_found_in_its_own_test() -> Iterator[None]:
    """Event loops and sockets that are never closed warn when they are collected."""
    yield
    gc.collect()


def refund(order: str) -> str:
    """Refund an order."""
    return f"refunded {order}"


def chat_openai(url: str, **more: Any) -> Any:
    module = pytest.importorskip("langchain_openai")
    return module.ChatOpenAI(model="m", base_url=url, api_key="k", max_retries=0, **more)


def langchain(url: str) -> Any:
    model = chat_openai(url).bind_tools([refund])
    first = model.invoke("refund order 7")
    return first.tool_calls[0]["args"]


def langchain_stream(url: str) -> Any:
    model = chat_openai(url).bind_tools([refund])
    whole: Any = None
    for chunk in model.stream("refund order 7"):
        whole = chunk if whole is None else whole + chunk
    return whole.tool_calls[0]["args"]


def langchain_anthropic(url: str) -> Any:
    module = pytest.importorskip("langchain_anthropic")
    model = module.ChatAnthropic(model="m", base_url=url.removesuffix("/v1"), api_key="k", max_retries=0)
    return asyncio.run(model.bind_tools([refund]).ainvoke("refund order 7")).tool_calls[0]["args"]


def langgraph(url: str) -> Any:
    pytest.importorskip("langgraph")
    agents = pytest.importorskip("langchain.agents")
    agent = agents.create_agent(chat_openai(url), tools=[refund])
    return agent.invoke({"messages": [{"role": "user", "content": "refund order 7"}]})["messages"][-1].content


def openai_agents(url: str) -> Any:
    agents = pytest.importorskip("agents")
    openai = pytest.importorskip("openai")
    agents.set_tracing_disabled(True)
    model = agents.OpenAIChatCompletionsModel(model="m", openai_client=openai.AsyncOpenAI(base_url=url, api_key="k"))
    agent = agents.Agent(name="a", model=model, tools=[agents.function_tool(refund)])
    return agents.Runner.run_sync(agent, "refund order 7").final_output


def openai_agents_responses(url: str) -> Any:
    agents = pytest.importorskip("agents")
    openai = pytest.importorskip("openai")
    agents.set_tracing_disabled(True)
    model = agents.OpenAIResponsesModel(model="m", openai_client=openai.AsyncOpenAI(base_url=url, api_key="k"))
    agent = agents.Agent(name="a", model=model, tools=[agents.function_tool(refund)])

    async def run() -> Any:
        streamed = agents.Runner.run_streamed(agent, "refund order 7")
        async for _ in streamed.stream_events():
            pass
        return streamed.final_output

    return asyncio.run(run())


def pydantic_ai(url: str) -> Any:
    pydantic_ai = pytest.importorskip("pydantic_ai")
    models = pytest.importorskip("pydantic_ai.models.openai")
    providers = pytest.importorskip("pydantic_ai.providers.openai")
    model = models.OpenAIChatModel("m", provider=providers.OpenAIProvider(base_url=url, api_key="k"))
    return pydantic_ai.Agent(model, tools=[refund]).run_sync("refund order 7").output


def litellm_call(url: str, name: str) -> Any:
    return getattr(pytest.importorskip("litellm"), name)(
        model="openai/m",
        api_base=url,
        api_key="k",
        messages=[{"role": "user", "content": "refund order 7"}],
        tools=[
            {"type": "function", "function": {"name": "refund", "parameters": {"type": "object", "properties": {}}}}
        ],
        num_retries=0,
    )


def litellm(url: str) -> Any:
    return litellm_call(url, "completion").choices[0].message.tool_calls[0].function.name


def litellm_async(url: str) -> Any:
    async def main() -> Any:
        return await litellm_call(url, "acompletion")

    return asyncio.run(main()).choices[0].message.tool_calls[0].function.name


def instructor(url: str) -> Any:
    instructor = pytest.importorskip("instructor")
    openai = pytest.importorskip("openai")
    import pydantic

    class Refund(pydantic.BaseModel):
        """Refund an order."""

        order: str

    Refund.__name__ = "refund"
    client = instructor.from_openai(openai.OpenAI(base_url=url, api_key="k", max_retries=0))
    found = client.chat.completions.create(
        model="m", response_model=Refund, max_retries=0, messages=[{"role": "user", "content": "refund order 7"}]
    )
    return found.model_dump()


EXPECTED: dict[Callable[[str], Any], tuple[Any, int]] = {
    langchain: (ARGUMENTS, 1),
    langchain_stream: (ARGUMENTS, 1),
    langchain_anthropic: (ARGUMENTS, 1),
    langgraph: ("done", 2),
    openai_agents: ("done", 2),
    openai_agents_responses: ("done", 2),
    pydantic_ai: ("done", 2),
    litellm: ("refund", 1),
    litellm_async: ("refund", 1),
    instructor: (ARGUMENTS, 1),
}
"""What each agent comes to, and the model calls that it makes."""

every_framework = pytest.mark.parametrize("agent", EXPECTED, ids=lambda agent: agent.__name__)


@every_framework
def test_every_model_call_is_recorded_as_it_went_over_the_wire(agent: Callable[[str], Any], tmp_path: Path) -> None:
    expected, calls = EXPECTED[agent]
    with Loopback(provider) as server:
        with runtape.record(tmp_path / "run.jsonl", capture=True):
            assert agent(server.url) == expected
        sent = [received.body for received in server.requests]
    trace = runtape.load(tmp_path / "run.jsonl")
    assert [trace.request(call.request).body for call in trace.calls] == sent
    assert len(sent) == calls
    first = trace.reply(trace.calls[0].request)
    assert [(call.name, call.arguments) for call in first.tool_calls] == [("refund", ARGUMENTS)]


@every_framework
def test_a_recorded_run_is_replayed_to_the_same_code(agent: Callable[[str], Any], tmp_path: Path) -> None:
    expected, calls = EXPECTED[agent]
    with Loopback(provider) as server:
        with runtape.record(tmp_path / "run.jsonl", capture=True):
            agent(server.url)
        for capture in (True, False):
            with runtape.replay(tmp_path / "run.jsonl", capture=capture) as replayed:
                assert agent(server.url) == expected
                assert replayed.left == []
        assert len(server.requests) == calls
