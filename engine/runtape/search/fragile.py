"""Notices a context that breaks when much of it is removed, and removes less from then on."""

from __future__ import annotations

from .decode import Chances
from .ledger import Ledger
from .units import largest_pool

FRAGILE = 0.20
"""Share of flips, beyond those that the base itself makes, from which large pools are doing damage."""
ENOUGH = 12
"""Samples of large pools before that share means anything."""
INNOCENT = 0.10
"""Units below this chance explain no flip."""


def guard_cap(ledger: Ledger, rest: Chances) -> None:
    """Halves the largest pool, once, when large pools without any suspected or proven unit keep flipping."""
    whole = largest_pool(ledger.problem)
    if ledger.cap < whole or whole < 2:
        return
    suspected = {unit for unit, chance in enumerate(rest.tolist()) if chance > INNOCENT}
    suspected |= ledger.nominated | ledger.proven_units
    samples = flips = 0
    for variant, tally in ledger.pooled():
        if 2 * len(variant) > ledger.cap and suspected.isdisjoint(ledger.units.within(variant)):
            samples += tally.n
            flips += tally.flips
    if samples >= ENOUGH and flips / samples > FRAGILE + (1 - ledger.base_rate):
        ledger.cap = whole // 2
