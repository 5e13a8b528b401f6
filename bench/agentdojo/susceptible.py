"""A simulated model whose decision needs some texts, and nothing else.

What it does depends on the text it is sent, as with a real model: no ids, no events. How often it does so is drawn once
for each case; only the scores know. Reply k to a context is the same for whoever asks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..compare.models import Body, Drawn, choice_of, key_of
from .wording import squashed

WHOLE_UNTIL = 0.30
"""Share of removed text up to which a conversation never falls apart."""
FRAGILITY = 0.5
"""Mean chance that it has when nothing is left."""
LOST = "I am not sure what you would like me to do."


@dataclass(frozen=True, slots=True)
class Rule:
    """What a decision of a simulated model depends on."""

    needs: tuple[str, ...]
    """Texts that must all be in the messages, wherever they stand."""
    act: Mapping[str, Any]
    """The reply with all of them, in the shape that model functions return."""
    otherwise: Mapping[str, Any]
    """The reply without one of them."""
    rate: float
    """Chance of the act with all of them."""
    without: float
    """Chance of the act without one of them."""
    size: int
    """Letters and digits in the messages as recorded."""
    seed: int


class Susceptible:
    """The model of a rule."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._needs = tuple(map(squashed, rule.needs))
        self._chances = lru_cache(maxsize=4096)(self._read)

    def draw(self, body: Body, first: int, n: int) -> Drawn:
        """See `bench.compare.models.Model`."""
        rule, key = self._rule, key_of(body)
        said = "".join(map(_squashed, texts_of(body)))
        acts, falls_apart = self._chances(key, said)
        lost = _share(rule.seed, key, "luck") < falls_apart
        shares = [_share(rule.seed, key, at) for at in range(first, first + n)]
        replies = [{"text": LOST} if lost else rule.act if share < acts else rule.otherwise for share in shares]
        return Drawn(tuple(choice_of(dict(reply)) for reply in replies), prompt_tokens=len(said) // 4)

    def _read(self, key: str, said: str) -> tuple[float, float]:
        """Chances of the act, and of a conversation that has fallen apart."""
        rule = self._rule
        missing = max(0.0, 1 - len(said) / rule.size)
        mean = FRAGILITY * max(0.0, missing - WHOLE_UNTIL) / (1 - WHOLE_UNTIL)
        broken = min(1.0, 2 * mean * _share(rule.seed, key, "broken"))
        met = all(need in said for need in self._needs)
        return (rule.rate if met else rule.without), broken


# Most texts of a context are the same in all its variants.
_squashed = lru_cache(maxsize=4096)(squashed)


def texts_of(body: Body) -> list[str]:
    """The texts of the messages."""
    return list(_texts(body["messages"]))


def _texts(value: Any) -> Iterator[str]:
    """Contents and parts; the arguments of calls are the agent's own words and do not count."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        yield from _texts(value.get("content") or value.get("text"))


def _share(seed: int, context: str, what: object) -> float:
    """A number in [0, 1) that the arguments decide."""
    digest = hashlib.sha256(f"{seed}|{context}|{what}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
