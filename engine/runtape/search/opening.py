"""The first rounds: how often the decision is made at all, and a first sweep over the context."""

from __future__ import annotations

from copy import deepcopy

import numpy as np

from .batch import Batch
from .ledger import Ledger, Variant
from .pools import Pool, partition
from .protocol import Search
from .slot import FREQUENT

BASE_SAMPLES = 10
MORE_BASE_SAMPLES = 20
BASE_SAMPLES_WHEN_RARE = 30
"""Where twenty leave it open whether the decision is too rare."""
FEWEST_ANSWERS = 6
"""Of the first ten reruns, as many must count before the decision's rate means anything."""
TOO_RARE = 0.10
SUSPECTS_AT_ONCE = 6
"""Suspects that get a rerun of their own in the first round; more of them are a wording score, not a suspicion."""


def sweep(ledger: Ledger, rng: np.random.Generator | None = None, *, pinned: bool = False) -> list[Pool]:
    """Divides what may be removed into pools: the units the agent read, or the pinned ones; scattered with `rng`."""
    if pinned:
        among = sorted(ledger.units.pinned - ledger.nominated)
        count = (ledger.settings.pooling.first + 1) // 2
    else:
        among = sorted(frozenset(range(len(ledger.units))) - ledger.hold - ledger.nominated)
        count = ledger.settings.pooling.first
    return partition(ledger.units, among, ledger.prior, count=count, cap=ledger.cap, rng=rng)


def open_search(ledger: Ledger) -> Search[Variant, None]:
    """Measures the base, and in the same round tries the suspects, or a first partition (fast: two) when there is none.

    Sets `ledger.answer` when the decision cannot be examined.
    """
    batch = Batch(ledger)
    batch.base(BASE_SAMPLES)
    suspects = sorted(ledger.units.suspects, key=lambda unit: (-ledger.units.scores[unit], unit))[:SUSPECTS_AT_ONCE]
    named = suspects or ledger.problem.together
    batch.pools([(unit,) for unit in suspects] if named else sweep(ledger))
    if ledger.settings.fast and not named:
        batch.pools(sweep(ledger, ledger.rng))
    elif not named:
        for pool in sweep(ledger, deepcopy(ledger.rng)):  # the second sweep, unless the first one settles a unit
            batch.ahead(ledger.units.leaves(pool), ledger.settings.pooling.samples)
    yield from batch.ask()
    if not ledger.base.n:  # ten answers that do not count: ten more would be paid for nothing
        ledger.answer = "not enough reruns"
        return
    if ledger.base.n < FEWEST_ANSWERS or ledger.base.rate < FREQUENT:
        batch = Batch(ledger)
        batch.base(MORE_BASE_SAMPLES)
        yield from batch.ask()
        if ledger.base.kept <= TOO_RARE * ledger.base.n:
            batch = Batch(ledger)
            batch.base(max(ledger.settings.reruns, BASE_SAMPLES_WHEN_RARE if ledger.base.kept else 0))
            if batch:
                yield from batch.ask()
        base = ledger.base
        if base.n < BASE_SAMPLES:
            ledger.answer = "not enough reruns"
        elif not base.kept:
            ledger.answer = "not reproducible"
        elif base.rate < TOO_RARE:
            ledger.answer = "too rare"
