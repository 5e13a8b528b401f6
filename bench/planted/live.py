"""Real models: any OpenAI-compatible server, and a llama.cpp server that is read instead of sampled."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from bench.compare.models import Body, Choice

from .chances import Chances, Slots, chances, post

LONGEST = 40
"""Tokens of a reply: a call without arguments takes 13, three names of texts no more than this."""


class Server:
    """An OpenAI-compatible server, sampled."""

    def __init__(self, base_url: str, model: str, key: str, *, many: bool = True) -> None:
        """`base_url`: ends in `/v1`; `key` goes to that address alone; `many`: whether it takes `n`."""
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._many = many
        self._model = model
        self._key = key

    def chances(self, body: Body) -> Chances | None:  # noqa: ARG002 - this one is sampled
        """See `kept.Live`."""
        return None

    def sample(self, body: Body, n: int) -> tuple[Sequence[Choice], Mapping[str, Any]]:
        """See `kept.Live`; a server that does not honour `n` gives one reply."""
        started = time.perf_counter()
        asked = {**body, "model": self._model, "max_tokens": min(body.get("max_tokens", LONGEST), LONGEST)}
        asked |= {"n": n} if n > 1 and self._many else {}
        said = post(self._url, asked, key=self._key)
        spent, timings = time.perf_counter() - started, said.get("timings", {})
        prompt = float(timings.get("prompt_ms", 0.0)) / 1000
        usage = said.get("usage", {})
        cost = {
            "seconds": round(prompt, 2),
            "reply_seconds": round(spent - prompt, 2),
            "prompt_tokens": usage.get("prompt_tokens", 0),
            "reply_tokens": usage.get("completion_tokens", 0),
        }
        return said["choices"], cost


class Llama(Server):
    """A llama.cpp server on which the choice among tools is read from its probabilities; the rest is sampled."""

    def __init__(self, base_url: str) -> None:
        super().__init__(base_url, "local", "local")
        self._server = base_url.rstrip("/").removesuffix("/v1")
        self._slots = Slots()

    def chances(self, body: Body) -> Chances | None:
        """See `kept.Live`."""
        tools = body.get("tools") or []
        bare = all(not tool["function"]["parameters"].get("properties") for tool in tools)
        if not tools or not bare or body.get("tool_choice") != "required":
            return None
        return chances(self._server, body, self._slots)
