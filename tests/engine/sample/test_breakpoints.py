"""Marks for Anthropic's prompt cache, as the server sees them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from loopback import Answer, Loopback, Received

from runtape.sample.asks import Ask
from runtape.sample.budget import Budget
from runtape.sample.cache import ReplyCache
from runtape.sample.endpoint import Endpoint
from runtape.sample.http_models import HttpModel
from runtape.sample.sampler import Sampler
from runtape.wire.values import Request

pytestmark = pytest.mark.anyio

REPLY: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "content": [{"type": "text", "text": "hi"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


def body(*, turns: int = 8, changed: int | None = None, length: int = 900, **more: Any) -> dict[str, Any]:
    messages: list[Any] = []
    for turn in range(turns):
        text = f"{turn} {'other' if turn == changed else 'same'} " + "x" * length
        role = "assistant" if turn % 2 else "user"
        messages.append({"role": role, "content": [{"type": "text", "text": text}] if turn % 3 else text})
    return {"model": "claude", "max_tokens": 9, "system": "Be quick.", "messages": messages, **more}


async def sent(
    *bodies: dict[str, Any], script: Callable[[Received], Answer] = lambda _: Answer(REPLY), named: bool = True
) -> tuple[list[Any], list[str]]:
    with Loopback(script) as server, ReplyCache(None) as cache:
        model = HttpModel("messages", Endpoint(server.root, "k" if named else None, "ANTHROPIC_API_KEY", named=named))
        sampler = Sampler(model, cache, Budget(None))
        for one in bodies:
            await sampler.draw([Ask(Request("anthropic", "messages", None, one), "pool", 1)])
        await model.aclose()
        return [received.body for received in server.requests], sampler.notes


def marks(value: Any) -> int:
    return json.dumps(value).count('"cache_control"')


def unmarked(value: Any) -> Any:
    """What the model reads: without the marks, and a text alone as the block that it stands for."""
    if isinstance(value, dict):
        return {key: unmarked(inner) for key, inner in value.items() if key != "cache_control"}
    return [unmarked(inner) for inner in value] if isinstance(value, list) else value


def in_blocks(sent_body: dict[str, Any]) -> dict[str, Any]:
    def blocks(content: Any) -> Any:
        return [{"type": "text", "text": content}] if isinstance(content, str) else content

    messages = [{**message, "content": blocks(message["content"])} for message in sent_body["messages"]]
    return {**sent_body, "system": blocks(sent_body["system"]), "messages": messages}


async def test_the_recorded_context_has_four_marks_and_a_changed_one_those_before_its_change() -> None:
    received, notes = await sent(body(), body(changed=4), body(changed=0), body(changed=7))
    assert [marks(one) for one in received] == [4, 2, 1, 3]
    assert "cache_control" in received[0]["system"][-1]
    assert "cache_control" in received[0]["messages"][-1]["content"][-1]
    for one, asked in zip(received, (body(), body(changed=4), body(changed=0), body(changed=7)), strict=True):
        assert in_blocks(unmarked(one)) == in_blocks(asked)
    for at, message in enumerate(received[1]["messages"][:4]):
        assert message == received[0]["messages"][at], "the beginning that is cached is the same to the byte"
    assert sum("prompt cache" in note for note in notes) == 1


@pytest.mark.parametrize(
    "own",
    [
        body(cache_control={"type": "ephemeral"}),
        body(system=[{"type": "text", "text": "Be quick.", "cache_control": {"type": "ephemeral"}}]),
        body(turns=2, length=100),
    ],
)
async def test_marks_of_its_own_stay_alone_and_a_short_request_needs_none(own: dict[str, Any]) -> None:
    received, notes = await sent(own)
    assert received == [own]
    assert notes == []


async def test_a_recorded_address_is_sent_nothing_more_than_was_recorded() -> None:
    received, _ = await sent(body(), named=False)
    assert received == [body()]


async def test_reasoning_is_never_marked() -> None:
    asked = body()
    for message in asked["messages"][1::2]:
        message["content"] = [{"type": "thinking", "thinking": "hm" * 400, "signature": "s"}]
    received, _ = await sent(asked)
    assert 2 <= marks(received[0]) <= 4
    assert not any(marks(message) for message in received[0]["messages"][1::2])


async def test_a_server_that_refuses_the_marks_is_asked_without_them() -> None:
    def strict(received: Received) -> Answer:
        if marks(received.body):
            return Answer({"error": {"message": "messages.0.content.0.cache_control: Extra inputs"}}, 400)
        return Answer(REPLY)

    received, _ = await sent(body(), body(changed=3), script=strict)
    assert [marks(one) for one in received] == [4, 0, 0]
