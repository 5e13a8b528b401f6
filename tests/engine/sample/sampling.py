"""What several tests of this folder ask and answer with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from runtape.sample.asks import Ask
from runtape.sample.model import Answer
from runtape.wire.values import Json, Reply, Request

PATIENCE = 60.0
"""Seconds until a test that waits for something gives up: far more than it takes on a busy machine."""


def chat(text: str = "go", *, endpoint: str | None = None, **body: Json) -> Request:
    """A recorded chat completion request with one user message."""
    messages: Json = [{"role": "user", "content": text}]
    return Request("openai", "chat.completions", endpoint, {"model": "m", "messages": messages, **body})


def ask(text: str = "go", n: int = 1, series: str = "pool") -> Ask:
    return Ask(chat(text), series, n)


def said(text: str) -> Answer:
    return Answer(Reply(text, stop="end"), text)


class FakeModel:
    """Answers as `act` does; counts what it is asked."""

    identity = "fake"

    def __init__(self, act: Callable[[Request, int], Awaitable[Sequence[Answer]]], max_n: int = 1) -> None:
        self.max_n = max_n
        self.asked: list[int] = []
        self._act = act

    async def sample(self, request: Request, n: int) -> Sequence[Answer]:
        self.asked.append(n)
        return await self._act(request, n)

    async def aclose(self) -> None:
        pass
