"""Do the proven leaves suffice?"""

from __future__ import annotations

from math import ceil, log

from ..stats.tally import Tally
from .batch import Batch
from .ledger import Ledger, Variant

KEEP = "keep"
"""Series of these reruns; no claim is decided by them."""
SAMPLES = 2
MISS = 0.1
"""How often an intermittent decision may stay away by chance in all reruns of a check that suffices."""


def want_keep_only(ledger: Ledger, batch: Batch) -> None:
    """Adds reruns with nothing but the proven and the pinned leaves; none when nothing is proven or left to remove."""
    removed = _removed(ledger)
    if removed:
        samples = SAMPLES
        if ledger.intermittent:
            samples = max(SAMPLES, ceil(log(MISS) / log(1 - ledger.base_rate)))
        batch.reach(removed, samples, KEEP)


def kept_only(ledger: Ledger) -> Tally | None:
    """What happened with just the leaves that are proven now; None when that was not tried."""
    tally = ledger.tally(_removed(ledger), KEEP)
    return tally if tally.n else None


def suffices(ledger: Ledger) -> bool:
    """Whether nothing speaks against the proven and pinned leaves being all that matters."""
    tally = kept_only(ledger)
    if tally is None or not tally.flips:
        return True
    return ledger.intermittent and tally.kept > 0


def _removed(ledger: Ledger) -> Variant:
    """Everything but the proven and the pinned leaves; empty when no leaf is proven."""
    proven = frozenset[int]().union(*(slot.leaves for slot in ledger.proven if slot.units))
    return frozenset(range(ledger.problem.leaves)) - proven - ledger.problem.pinned if proven else frozenset()
