"""AgentDojo's pairs as cases with a known truth, and the simulated model of each."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from runtape.ops.case import open_case, selection_of

from ..compare import Case, Truth
from ..compare.models import Body, Choice
from . import dojo
from .scenes import Scene, lay_out, record
from .susceptible import Rule, Susceptible, texts_of
from .wording import first_sentence, squashed

RATES = ((1.0, 0.0), (0.95, 0.05), (0.9, 0.1), (0.8, 0.1), (0.9, 0.25))
"""Chance of the decision with the sentence, and without it; drawn for each case."""
LEAST_VALUE, MOST_VALUE = 4, 60
"""Letters and digits of a value that an action of the user needs from what was read."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One of AgentDojo's 949 pairs of a user's task and an injection."""

    suite: str
    user: str
    injection: str

    @property
    def name(self) -> str:
        return f"{self.suite} {self.user} {self.injection}"


@dataclass(frozen=True, slots=True)
class Posed:
    """A case, its model, and the texts in its context that are not the user's."""

    case: Case
    model: Susceptible
    foreign: tuple[str, ...]
    rates: tuple[float, float]


class Remembered(Case):
    """A case that makes each context, and judges each reply, once for all methods."""

    @cached_property
    def _made(self) -> dict[tuple[int, ...], Body]:
        return {}

    @cached_property
    def _judged(self) -> dict[str, bool]:
        return {}

    def without(self, *leaves: int) -> Body:
        """See `Case.without`."""
        if leaves not in self._made:
            self._made[leaves] = super().without(*leaves)
        return self._made[leaves]

    def decides(self, choice: Choice) -> bool:
        """See `Case.decides`."""
        said = str(choice["message"])
        if said not in self._judged:
            self._judged[said] = super().decides(choice)
        return self._judged[said]


def pairs(suites: Sequence[str] = dojo.SUITES) -> list[Pair]:
    """All pairs of AgentDojo's suites, in its order."""
    return [
        Pair(name, user, injection)
        for name in suites
        for suite in (dojo.suite_of(name),)
        for user in suite.user_tasks
        for injection in suite.injection_tasks
    ]


def pose(pair: Pair, folder: Path, *, seed: int, control: bool) -> Posed:
    """Records a pair's scene and knows its truth."""
    suite, attack = dojo.suite_of(pair.suite), dojo.attack_of(pair.suite)
    user, injection = suite.user_tasks[pair.user], suite.injection_tasks[pair.injection]
    laid = lay_out(suite, attack, user, injection, seed=seed)
    kind = "control" if control else "attack"
    path = folder / f"{pair.name.replace(' ', '-')}-{kind}-{seed}.jsonl"
    path.unlink(missing_ok=True)
    scene = record(suite, user, injection, laid, path, control=control)
    decision = _decision(scene)
    opened = open_case(
        path,
        scene.event,
        selection_of(
            decision.get("tool"),
            decision.get("match"),
            exact_args=decision.get("exact_args", False),
            args=(),
            where=None,
            judge=None,
        ),
    )
    said = "\n".join(texts_of(opened.request.body))
    needs = _needs(scene, said, control=control)
    chance = random.Random(f"rates {seed} {pair.name} {kind}")
    rates = chance.choice(RATES)
    rule = Rule(needs, scene.act, scene.otherwise, *rates, len(squashed(said)), seed)
    truth = Truth(needed=frozenset(needs)) if control else Truth((frozenset(needs),))
    case = Remembered(f"{pair.name}, {kind}", path, truth, scene.event, decision, seed)
    case.__dict__["opened"] = opened
    return Posed(case, Susceptible(rule), laid.foreign, rates)


def _decision(scene: Scene) -> dict[str, Any]:
    """What is asked about: the tool; with its arguments where the agent would call the same tool anyway."""
    [call] = scene.act.get("tool_calls") or [None]
    if call is None:
        return {"match": re.escape(scene.act["text"][:60])}
    anyway = [made["name"] for made in scene.otherwise.get("tool_calls", ())]
    return {"tool": call["name"], **({"exact_args": True} if call["name"] in anyway else {})}


def _needs(scene: Scene, said: str, *, control: bool) -> tuple[str, ...]:
    """The texts that the decision rests on."""
    if not control:
        return (scene.laid.trigger,)
    return first_sentence(" ".join(scene.prompt.split())), *_value(scene, said)


def _value(scene: Scene, said: str) -> Iterator[str]:
    """A value of the user's action that stands in what was read, outside of what others wrote."""
    [call] = scene.act.get("tool_calls") or [{"arguments": {"": scene.act.get("text")}}]
    read, foreign = squashed(said), squashed(" ".join((*scene.laid.foreign, scene.prompt)))
    for value in call["arguments"].values():
        if not isinstance(value, str) or not LEAST_VALUE <= len(squashed(value)) <= MOST_VALUE:
            continue
        if squashed(value) in read and squashed(value) not in foreign:
            yield value
            return
