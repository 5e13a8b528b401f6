"""The first rounds: how often the decision is made at all, and a first sweep over the context."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log2

from .batch import Batch
from .ledger import Ledger, Variant
from .pools import Pool, partition, scatter
from .protocol import Search
from .settings import Sweep
from .slot import FREQUENT

BASE_SAMPLES = 10
FIRST_SAMPLES, CLEAR = 7, 6
"""Reruns that come first, and how many of them must repeat the decision for the rest to wait for the first claim under
test: drawn beside its reruns, they tell whether it is still the same model."""
MORE_BASE_SAMPLES = 20
BASE_SAMPLES_WHEN_RARE = 30
"""Where twenty leave it open whether the decision is too rare."""
FEWEST_ANSWERS = 6
"""Of the first ten reruns, as many must count before the decision's rate means anything."""
TOO_RARE = 0.10
SUSPECTS_AT_ONCE = 6
"""Suspects that get a rerun of their own in the first round; more of them are a wording score, not a suspicion."""


def sweep(ledger: Ledger, which: Sweep) -> list[Pool]:
    """Pools that together hold each unit that may be removed: of what the agent read, or of the pinned units.

    `contiguous` and `scattered` are partitions in context order and in random order; `both` are the two at once. Where
    the samples of one context share a request, the scattered pools overlap, as many as there are halvings from a pool
    of the first partition to a single unit.
    """
    first = ledger.settings.pooling.first
    if which == "pinned":
        return _divided(ledger, sorted(ledger.units.pinned - ledger.nominated), (first + 1) // 2)
    among = sorted(frozenset(range(len(ledger.units))) - ledger.hold - ledger.nominated)
    pools = _divided(ledger, among, first, scattered=which == "scattered")
    if which != "both":
        return pools
    if ledger.settings.profile == "calls":
        return pools + _divided(ledger, among, first, scattered=True)
    halvings = ceil(log2(max(1.0, len(among) / first)))
    return pools + scatter(ledger.units, among, count=halvings, cap=ledger.cap, rng=ledger.rng)


def _divided(ledger: Ledger, among: Sequence[int], count: int, *, scattered: bool = False) -> list[Pool]:
    rng = ledger.rng if scattered else None
    return partition(ledger.units, among, ledger.prior, count=count, cap=ledger.cap, rng=rng)


def open_search(ledger: Ledger) -> Search[Variant, list[Sweep]]:
    """Measures the base, and in the same round tries the suspects, or does the first sweep when there is none.

    Where the samples of one context share a request the base comes alone: it is the request that found that out.
    Sets `ledger.answer` when the decision cannot be examined. Returns the sweeps that are left.
    """
    batch = Batch(ledger)
    batch.base(BASE_SAMPLES if ledger.settings.profile == "contexts" else FIRST_SAMPLES)
    suspects = sorted(ledger.units.suspects, key=lambda unit: (-ledger.units.scores[unit], unit))[:SUSPECTS_AT_ONCE]
    batch.pools((unit,) for unit in suspects)
    sweeps = list(ledger.settings.sweeps)
    if ledger.settings.profile != "contexts" and not (suspects or ledger.problem.together):
        batch.pools(sweep(ledger, sweeps.pop(0)))
    yield from batch.ask()
    yield from _measure_base(ledger)
    return sweeps


def _measure_base(ledger: Ledger) -> Search[Variant, None]:
    if not ledger.base.n:  # none of the answers counts: more would be paid for nothing
        ledger.answer = "not enough reruns"
        return
    if ledger.base.kept < CLEAR:
        batch = Batch(ledger)
        batch.base(BASE_SAMPLES)
        if batch:
            yield from batch.ask()
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
