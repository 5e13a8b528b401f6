"""Looks inside pools that keep flipping although no proven cause is in them."""

from __future__ import annotations

from collections.abc import Iterable

from .batch import Batch
from .headline import has_headline
from .ledger import Ledger, Variant
from .protocol import POOL, Search
from .sets import find_set

TIMES = 3
AT_ONCE = 5
ENOUGH = 3
"""Samples of a pool from which it is not rerun here."""
SHARE_LEFT = 0.4
"""Share of the base rate below which a pool counts as flipping."""
NEVER = 0.15


def explain_flips(ledger: Ledger) -> Search[Variant, None]:
    """Reruns unexplained pools and searches the one that flips most, while no cause makes the agent act differently.

    This finds a cause that another sentence hides, neighbours that say the same thing, and weak causes that the decode
    of the pools had talked itself out of.
    """
    tried: set[Variant] = set()
    for _ in range(TIMES):
        if has_headline(ledger):
            return
        pools = [variant for variant in _unexplained(ledger) if variant not in tried][:AT_ONCE]
        batch = Batch(ledger)
        for variant in pools:
            if ledger.tally(variant, POOL).n < ENOUGH:
                batch.more(variant, 4 if ledger.intermittent else 1)
        if batch:
            yield from batch.ask()
        flipping = [
            variant
            for variant in pools
            if ledger.tally(variant, POOL).flips >= 2
            and ledger.tally(variant, POOL).rate <= SHARE_LEFT * ledger.base_rate
        ]
        if not flipping:
            return
        worst = min(flipping, key=lambda variant: (ledger.tally(variant, POOL).rate, len(variant)))
        tried.add(worst)
        yield from find_set(ledger, by_suspicion(ledger, ledger.units.within(worst)), NEVER)


def by_suspicion(ledger: Ledger, units: Iterable[int]) -> list[int]:
    """Some units, most suspicious first."""
    return sorted(units, key=lambda unit: (-ledger.units.scores[unit], unit))


def _unexplained(ledger: Ledger) -> list[Variant]:
    """Pools of several units that flipped and hold no proven leaf, most flips first."""
    proven = frozenset[int]().union(*(slot.leaves for slot in ledger.proven))
    pools = [
        (variant, tally)
        for variant, tally in ledger.pooled()
        if tally.flips and len(ledger.units.within(variant)) > 1 and proven.isdisjoint(variant)
    ]
    pools.sort(key=lambda pool: (pool[1].kept - pool[1].flips, len(pool[0])))
    return [variant for variant, _ in pools]
