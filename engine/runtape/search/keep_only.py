"""Do the proven leaves suffice?"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from math import ceil, log, prod

import numpy as np

from ..stats.tally import Tally
from .batch import Batch
from .beliefs import beliefs
from .ledger import Ledger, Variant
from .slot import Slot

KEEP = "keep"
"""Series of these reruns; no claim is decided by them."""
SAMPLES = 2
FORESEEN, NAMED = 3, 2
"""Open slots up to which outcomes are foreseen, and how many of the likeliest outcomes are provided for."""
MISS = 0.1
"""How often an intermittent decision may stay away by chance in all reruns of a check that suffices."""


def all_but_proven(ledger: Ledger) -> Variant:
    """Everything but the proven and the pinned leaves; empty when no leaf is proven."""
    return _removed(ledger, ledger.proven)


def want_keep_only(ledger: Ledger, batch: Batch) -> None:
    """Adds reruns with nothing but the proven and the pinned leaves; none when nothing is proven or left to remove."""
    removed = all_but_proven(ledger)
    if removed:
        batch.reach(removed, _samples(ledger), KEEP)


def expect_keep_only(ledger: Ledger, batch: Batch) -> None:
    """Names these reruns ahead for what the slots under test will most likely have proven."""
    likely = ledger.unrefuted
    if not likely or len(likely) > FORESEEN or not ledger.eager:
        return
    chances = beliefs(ledger)
    holds = {slot.number: float(np.prod(chances[sorted(slot.units)])) for slot in likely}
    outcomes = [chosen for size in range(1, len(likely) + 1) for chosen in combinations(likely, size)]
    outcomes.sort(
        key=lambda chosen: -prod(holds[slot.number] if slot in chosen else 1 - holds[slot.number] for slot in likely)
    )
    for chosen in outcomes[:NAMED]:
        if removed := _removed(ledger, [*ledger.proven, *chosen]):
            batch.ahead(removed, _samples(ledger), KEEP)


def kept_only(ledger: Ledger) -> Tally | None:
    """What happened with just the leaves that are proven now; None when that was not tried."""
    tally = ledger.tally(all_but_proven(ledger), KEEP)
    return tally if tally.n else None


def suffices(ledger: Ledger) -> bool:
    """Whether nothing speaks against the proven and pinned leaves being all that matters."""
    tally = kept_only(ledger)
    if tally is None or not tally.flips:
        return True
    return ledger.intermittent and tally.kept > 0


def _samples(ledger: Ledger) -> int:
    if not ledger.intermittent:
        return SAMPLES
    return max(SAMPLES, ceil(log(MISS) / log(1 - ledger.base_rate)))


def _removed(ledger: Ledger, kept: Iterable[Slot]) -> Variant:
    """Everything but the leaves of some slots and the pinned leaves; empty when there is no such leaf."""
    leaves = frozenset[int]().union(*(slot.leaves for slot in kept if slot.units))
    return frozenset(range(ledger.problem.leaves)) - leaves - ledger.problem.pinned if leaves else frozenset()
