"""What a benchmark's model is, and the desk where one method asks it and is charged."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from runtape.canon import digest
from runtape.sample.model import Answer
from runtape.sample.shapes import as_dict
from runtape.wire.dialects import dialect_for
from runtape.wire.values import Request

API = "chat.completions"
Body: TypeAlias = "dict[str, Any]"
"""A request of the chat completions API."""
Choice: TypeAlias = "dict[str, Any]"
"""One of the `choices` of a response of that API."""
Said: TypeAlias = "dict[str, Any]"
"""`{"text": ..., "tool_calls": [{"name": ..., "arguments": {...}}]}`, as model functions return it."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Some replies to one request, with what they cost whoever asks for them alone."""

    choices: tuple[Choice, ...]
    prompt_seconds: float = 0.0
    """What the server spends on the context before the first reply."""
    reply_seconds: float = 0.0
    """What it spends on all these replies together."""
    prompt_tokens: int = 0
    reply_tokens: int = 0


class Model(Protocol):
    """Has a numbered series of replies to every request: whoever asks for reply 3 of a request gets the same one."""

    def draw(self, body: Body, first: int, n: int) -> Drawn:
        """Replies `first` to `first + n - 1` to a request; `n` of the body itself is not looked at."""
        ...


def key_of(body: Body) -> str:
    """Equal for requests that are answered from one series: all but how many replies are asked for at once."""
    return digest({name: value for name, value in body.items() if name not in {"n", "stream"}})


def choice_of(said: Said | str) -> Choice:
    """What a model function returns, as the API writes it."""
    if isinstance(said, str):
        said = {"text": said}
    calls = [
        {
            "id": f"call_{at}",
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call.get("arguments", {}))},
        }
        for at, call in enumerate(said.get("tool_calls") or ())
    ]
    message: Choice = {"role": "assistant", "content": said.get("text")}
    if calls:
        message["tool_calls"] = calls
    return {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}


def said_of(choice: Choice) -> Said:
    """A choice as model functions return it."""
    calls = choice["message"].get("tool_calls") or []
    return {
        "text": choice["message"].get("content"),
        "tool_calls": [
            {"name": call["function"]["name"], "arguments": json.loads(call["function"]["arguments"] or "{}")}
            for call in calls
        ],
    }


class Simulated:
    """A model whose answer to a request and a generator of random numbers is known.

    The generator depends on `seed`, the request and the reply's number alone.
    """

    def __init__(self, answer: Callable[[Body, random.Random], Said | str], seed: int = 0) -> None:
        self._answer = answer
        self._seed = seed

    def draw(self, body: Body, first: int, n: int) -> Drawn:
        """See `Model.draw`; tokens are estimated at four characters each."""
        key = digest([body.get("messages"), body.get("tools")])
        said = [self._answer(body, random.Random(f"{self._seed} {key} {at}")) for at in range(first, first + n)]
        return Drawn(
            tuple(choice_of(one) for one in said),
            prompt_tokens=len(json.dumps(body)) // 4,
            reply_tokens=sum(len(json.dumps(one)) // 4 for one in said),
        )


@dataclass
class Desk:
    """Where one method asks about one case, and what it is charged: everything it asked for, as if it were alone."""

    model: Model
    most: int = 1
    """Replies that one request may ask for."""
    calls: int = 0
    """Replies."""
    requests: int = 0
    """Contexts sent; several replies may come from one."""
    model_seconds: float = 0.0
    """What the replies took when they were made, or would have taken alone."""
    waited: float = 0.0
    """Seconds on the clock inside the model, which may have had the replies at hand."""
    prompt_tokens: int = 0
    reply_tokens: int = 0
    _next: Counter[str] = field(default_factory=Counter)
    """By request, the number of the next reply."""

    def ask(self, body: Body, n: int = 1) -> tuple[Choice, ...]:
        """The next `n` replies to a request, in one request."""
        key = key_of(body)
        first = self._next[key]
        started = time.perf_counter()
        drawn = self.model.draw(body, first, n)
        self.waited += time.perf_counter() - started
        self._next[key] += n
        self.calls += n
        self.requests += 1
        # A context that was just sent is still in the server's memory.
        self.model_seconds += drawn.reply_seconds + (0.0 if first else drawn.prompt_seconds)
        self.prompt_tokens += drawn.prompt_tokens
        self.reply_tokens += drawn.reply_tokens
        return drawn.choices

    def said(self, asked: dict[str, Any], n: int = 1) -> list[Said]:
        """The next replies to what a model function is handed."""
        return [said_of(choice) for choice in self.ask(body_of(asked), n)]


def body_of(asked: dict[str, Any]) -> Body:
    """The request that a model function was handed, as it would go over the wire."""
    body = {"model": asked["model"], "messages": asked["messages"], **asked["params"]}
    if asked.get("tools"):
        body["tools"] = asked["tools"]
    return body


class DeskModel:
    """A desk as the library's `Model`: replies in the order in which they are asked for."""

    def __init__(self, desk: Desk) -> None:
        self.identity = f"desk {id(desk)}"
        self.max_n = desk.most
        self._desk = desk

    async def sample(self, request: Request, n: int) -> Sequence[Answer]:
        """See `runtape.sample.model.Model.sample`."""
        drawn = self._desk.ask(body_of(as_dict(request)), min(n, self.max_n))
        bodies = [{"choices": [choice]} for choice in drawn]
        return [Answer(dialect_for(API).replies(body)[0], body) for body in bodies]

    async def aclose(self) -> None:
        """Nothing to close."""
