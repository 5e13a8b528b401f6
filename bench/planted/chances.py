"""A llama.cpp server read by the chance of each tool, in place of sampling it.

Tools without arguments make a forced reply nothing but a choice among names. The server's own next-token
probabilities give the chance of each name at the request's temperature, in one pass over the context; replies are then
drawn from those chances. That is the distribution that the server samples from, at a tenth of the time. Two endpoints
of llama.cpp are used: `/apply-template` and `/completion` with `n_probs`.
"""

from __future__ import annotations

import json
import math
import time
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.compare.models import Body

OPENING = '{"name": "'
"""What a forced call starts with under the server's template."""
LISTED = 1000
"""Tokens whose probability is asked for."""
LEAST = 1e-3
"""A way to begin a name that is rarer is not followed further."""


@dataclass(frozen=True, slots=True)
class Chances:
    """How likely a context leads to each tool."""

    of: Mapping[str, float]
    seconds: float
    prompt_tokens: int


def post(url: str, body: Mapping[str, Any], *, key: str = "local", timeout: float = 600) -> dict[str, Any]:
    """The JSON answer to a JSON request."""
    headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310 - the user named the server
    with urllib.request.urlopen(request, timeout=timeout) as answer:  # noqa: S310
        read: dict[str, Any] = json.load(answer)
        return read


class Slots:
    """Which of the server's slots takes a prompt: the one that already holds most of it, else the one longest unused.

    Left to itself, the server overwrites the slot that holds a common context for any prompt that starts alike. It has
    to run with `cache_idle_slots` off, or it forgets all slots but the last.
    """

    COUNT = 6
    ALIKE = 0.7
    """Share of a prompt that a slot has to hold."""

    def __init__(self) -> None:
        self._held: dict[int, str] = dict.fromkeys(range(self.COUNT), "")

    def take(self, prompt: str) -> int:
        """The slot for a prompt, which holds it from then on."""
        alike = {slot: _alike(held, prompt) for slot, held in self._held.items()}
        best = max(alike, key=alike.__getitem__)
        slot = best if alike[best] >= self.ALIKE * len(prompt) else next(iter(self._held))
        del self._held[slot]
        self._held[slot] = prompt  # now the last one, used most recently
        return slot


def _alike(one: str, other: str) -> int:
    """Characters that both start with."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def chances(server: str, body: Body, slots: Slots) -> Chances:
    """The chance of each tool for a request with a forced call of tools without arguments.

    `server`: its address, without `/v1`.
    """
    started = time.perf_counter()
    said = post(f"{server}/apply-template", {"messages": body["messages"], "tools": body["tools"]})
    opened = said["prompt"] + OPENING
    names = [tool["function"]["name"] for tool in body["tools"]]
    found = dict.fromkeys(names, 0.0)
    tokens = 0
    slot = slots.take(opened)

    def follow(begun: str, weight: float, left: Sequence[str]) -> None:
        nonlocal tokens
        if len(left) == 1:
            found[left[0]] += weight
            return
        asked = {"prompt": opened + begun, "n_predict": 1, "n_probs": LISTED, "temperature": 1.0}
        read = post(f"{server}/completion", {**asked, "cache_prompt": True, "id_slot": slot})
        tokens = tokens or int(read["tokens_evaluated"])
        logs = {
            listed["token"]: listed["logprob"] / body["temperature"]
            for listed in read["completion_probabilities"][0]["top_logprobs"]
            if listed["token"] and _beginning(begun + listed["token"], left)
        }
        most = max(logs.values())
        weights = {token: math.exp(log - most) for token, log in logs.items()}
        for token, part in weights.items():
            share = weight * part / sum(weights.values())
            if share >= LEAST:
                follow(begun + token, share, _beginning(begun + token, left))

    follow("", 1.0, names)
    total = sum(found.values())
    rounded = {name: round(value / total, 4) for name, value in found.items()}
    return Chances(rounded, time.perf_counter() - started, tokens)


def _beginning(text: str, names: Sequence[str]) -> list[str]:
    """The names that a reply of this beginning may still become; the quote after a name is part of it."""
    return [name for name in names if f'{name}"'.startswith(text)]
