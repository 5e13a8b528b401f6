"""A simulated model with a planted answer.

A world is a context cut into messages and leaves, a decision rule over the leaves that are kept, and noise. A search
learns about it only by asking for samples. Every sample depends on the world's seed, the variant, the series and its
place in the series alone, so the order of asking changes nothing and asking again gives the same samples.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from runtape.search.problem import Problem
from runtape.search.protocol import Want
from runtape.stats.tally import Tally

WAVE = 16
"""Samples that run at once."""
ODD = 0.10
"""Share of the flips that take the less usual way out."""
BROKEN_STOPS = 0.7
"""Share of the replies to a broken conversation that stop or ask."""

Variant = frozenset[int]


@dataclass(frozen=True, slots=True)
class Group:
    """Leaves of which the decision needs some to be there."""

    members: tuple[int, ...]
    need: int = 1

    def holds(self, removed: Variant) -> bool:
        return sum(leaf not in removed for leaf in self.members) >= self.need


@dataclass(frozen=True, slots=True)
class Rule:
    """When the decision is made, and how often."""

    groups: tuple[Group, ...] = ()
    """What makes the agent act this way; without one of them it does something else."""
    required: tuple[int, ...] = ()
    """Inputs without which the agent stops or asks."""
    masked: tuple[int, int] | None = None
    """(cause, mask): the cause matters only while the mask is there."""
    rate: float = 1.0
    """Chance of the decision with everything in place."""
    without: float = 0.0
    """Chance of the decision when something it needs is gone."""
    ignores: bool = False
    """The model ignores its context."""
    ordered: bool = False
    """The decision needs the tools in the order as recorded."""
    agreeing: int = 0
    """Reruns as recorded that repeat whatever the rate is."""
    fragile_from: float = 0.30
    """Share of removed leaves from which the conversation may break."""
    fragility: float = 0.0
    """Mean chance that it is broken when everything is removed."""

    def met(self, removed: Variant) -> bool:
        if self.ignores:
            return True
        kept = all(group.holds(removed) for group in self.groups) and removed.isdisjoint(self.required)
        return kept and (self.masked is None or self.masked[0] not in removed or self.masked[1] in removed)


@dataclass(slots=True)
class World:
    """A simulated model, and what asking it has cost."""

    problem: Problem
    rule: Rule
    calls: int = 0
    contexts: int = 0
    """Distinct contexts sent, counted once per batch."""
    waves: int = 0
    """Waits one after another when sixteen samples run at once."""
    drawn: dict[tuple[Variant, str], int] = field(default_factory=dict)

    def answer(self, wants: Sequence[Want[Variant]]) -> list[Tally]:
        fresh = 0
        waits = any(want.n > self.drawn.get((want.variant, want.series), 0) for want in wants)
        sent: set[Variant] = set()
        tallies: list[Tally] = []
        for want in wants:
            have = self.drawn.get((want.variant, want.series), 0)
            n = max(want.n, want.ahead) if waits else want.n
            if n > have:
                fresh += n - have
                sent.add(want.variant)
                self.drawn[want.variant, want.series] = n
            tallies.append(self.tally(want.variant, want.series, want.n))
        self.calls += fresh
        self.contexts += len(sent)
        self.waves += math.ceil(fresh / WAVE)
        return tallies

    def tally(self, removed: Variant, series: str, n: int) -> Tally:
        """The first `n` samples of a series."""
        rule = self.rule
        moved = rule.ordered and any(leaf >= self.problem.leaves for leaf in removed)
        rate = rule.rate if rule.met(removed) and not moved else rule.without
        usual = "other" if rule.ignores or removed.isdisjoint(rule.required) else "stop"
        broken = self.broken(removed)
        outcomes: Counter[str] = Counter()
        sure = rule.agreeing if not removed and series == "base" else 0
        for place, (repeats, odd, breaks, stops) in enumerate(_stream(self.problem.seed, removed, series, n)):
            if place < sure:
                outcomes["same"] += 1
            elif breaks < broken:
                outcomes["stop" if stops < BROKEN_STOPS else "other"] += 1
            elif repeats < rate:
                outcomes["same"] += 1
            else:
                outcomes[usual if odd >= ODD else "stop" if usual == "other" else "other"] += 1
        instead = tuple((kind, outcomes[kind]) for kind in ("other", "stop") if outcomes[kind])
        return Tally(kept=outcomes["same"], n=n, other=outcomes["other"], instead=instead)

    def broken(self, removed: Variant) -> float:
        """Chance that a reply to this context falls apart; the same each time, different from context to context."""
        share = len(removed) / self.problem.leaves
        if not self.rule.fragility or share <= self.rule.fragile_from or self.rule.ignores:
            return 0.0
        mean = self.rule.fragility * (share - self.rule.fragile_from) / (1 - self.rule.fragile_from)
        ((luck, *_),) = _stream(self.problem.seed, removed, "broken", 1)
        return min(1.0, 2 * luck * mean)


def _stream(seed: int, removed: Variant, series: str, n: int) -> list[list[float]]:
    """Four uniform numbers for each of the first `n` samples."""
    name = f"{seed}|{series}|".encode() + np.array(sorted(removed), dtype=np.int32).tobytes()
    digest = hashlib.blake2b(name, digest_size=16).digest()
    rows: list[list[float]] = (
        np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big"))).random((n, 4)).tolist()
    )
    return rows
