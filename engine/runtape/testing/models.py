"""Models without a server, for tests of what is built on samples."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TypeAlias

from .. import canon
from ..errors import ModelFailed
from ..jsonable import jsonable
from ..sample import attempts
from ..sample.model import Answer
from ..sample.shapes import BadShape, as_reply
from ..wire.dialects import dialect_for
from ..wire.values import Json, JsonObject, Reply, Request

Scripted: TypeAlias = "Reply | str | dict[str, object]"
"""A reply, or what a model function may return for one."""


class ScriptedModel:
    """Answers with the replies it was given, one by one, or with what a function makes of each request.

    Raises ModelFailed when the list is used up. `asked` holds every request, in order.
    """

    def __init__(
        self, script: Sequence[Scripted] | Callable[[Request], Scripted], *, identity: str = "scripted", max_n: int = 1
    ) -> None:
        self.identity = identity
        self.max_n = max_n
        self.asked: list[Request] = []
        self._script = script
        self._given = 0

    async def sample(self, request: Request, n: int) -> Sequence[Answer]:
        """See `Model.sample`."""
        self.asked.append(request)
        if callable(self._script):
            return [_answer(self._script(request)) for _ in range(min(n, self.max_n))]
        given = self._script[self._given : self._given + min(n, self.max_n)]
        self._given += len(given)
        if not given:
            raise ModelFailed(f"the script of {len(self._script)} replies is used up")
        return [_answer(reply) for reply in given]

    async def aclose(self) -> None:
        """Nothing to close."""


class PlantedModel:
    """Calls `tool` at one rate while every needle is in the request's text, at another when one is missing.

    It sees text only, as a real model does: no ids, no events. Under a sampler the answer depends on the text, the
    sample's name and `seed`, so that a search that is killed and repeated meets the same model; without one, on how
    often it was asked. When it does not call `tool` it calls `instead`, or says that it is done.
    """

    def __init__(
        self,
        needles: Sequence[str],
        *,
        tool: str,
        with_rate: float = 1.0,
        without_rate: float = 0.0,
        arguments: JsonObject | None = None,
        instead: str | None = None,
        seed: int = 0,
        max_n: int = 1,
    ) -> None:
        self.max_n = max_n
        self.samples = 0
        """Samples given."""
        self.requests = 0
        self._needles = tuple(needles)
        self._rates = (without_rate, with_rate)
        self._tool = tool
        self._arguments: JsonObject = arguments or {}
        self._instead = instead
        self._seed = seed
        self._asked: dict[str, int] = {}
        plan: list[Json] = [[*self._needles], with_rate, without_rate, tool, self._arguments, instead, seed]
        self.identity = f"planted {canon.digest(plan)[:16]}"

    async def sample(self, request: Request, n: int) -> Sequence[Answer]:
        """See `Model.sample`."""
        text = "\n".join(slot.text for slot in dialect_for(request.api).slots(request.body))
        count = min(n, self.max_n)
        self.requests += 1
        self.samples += count
        names = attempts.current.get().samples or self._numbered(text, count)
        return [_answer(self._reply(text, name)) for name in names[:count]]

    async def aclose(self) -> None:
        """Nothing to close."""

    def _numbered(self, text: str, count: int) -> tuple[str, ...]:
        first = self._asked.get(text, 0)
        self._asked[text] = first + count
        return tuple(str(number) for number in range(first, first + count))

    def _reply(self, text: str, name: str) -> Scripted:
        rate = self._rates[all(needle in text for needle in self._needles)]
        if _share(f"{self._seed}\0{name}\0{text}") < rate:
            return {"tool_calls": [{"name": self._tool, "arguments": self._arguments}]}
        if self._instead is not None:
            return {"tool_calls": [{"name": self._instead, "arguments": {}}]}
        return "Done."


def _answer(scripted: Scripted) -> Answer:
    if isinstance(scripted, Reply):
        return Answer(scripted, None)
    try:
        return Answer(as_reply(scripted), jsonable(scripted))
    except BadShape as error:
        return Answer(None, jsonable(scripted), f"the script holds {error}")


def _share(text: str) -> float:
    """A number in [0, 1) that `text` decides."""
    head = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8]
    return int.from_bytes(head, "big") / 2**64
