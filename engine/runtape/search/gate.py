"""Does anything that the agent read matter at all, and anything but what is proven?"""

from __future__ import annotations

from ..stats.tally import Tally
from .batch import Batch
from .decode import GONE, hit_ratio
from .keep_only import KEEP, all_but_proven
from .ledger import Ledger, Variant
from .protocol import Search

GATE = "gate"
"""Series of these reruns."""
SAMPLES = 3
"""Samples at a time."""
MOST_SAMPLES = 12
NOTHING, SOMETHING = 0.03, 3.0
"""Ratio of the two likelihoods, something against nothing, at which either is taken for settled."""


def nothing_read_matters(ledger: Ledger) -> Search[Variant, bool]:
    """Removes everything that is not pinned; True when the decision happens about as often all the same.

    Asked when nothing is proven, before the search for sets: that search is the dearest part, and pointless here.
    """
    return (yield from _changes_nothing(ledger, _read(ledger), GATE))


def nothing_else_matters(ledger: Ledger) -> Search[Variant, bool]:
    """Keeps nothing but the proven and the pinned leaves; True when the decision happens about as often all the same.

    Asked when the agent only stops without what is proven, as one does that would have answered: then no other text
    makes it act, alone or in a set, and the search for one is pointless.
    """
    return (yield from _changes_nothing(ledger, all_but_proven(ledger), KEEP))


def _changes_nothing(ledger: Ledger, removed: Variant, series: str) -> Search[Variant, bool]:
    if not removed:
        return False
    for samples in range(SAMPLES, MOST_SAMPLES + 1, SAMPLES):
        batch = Batch(ledger)
        batch.reach(removed, samples, series)
        if batch:
            yield from batch.ask()
        tally = ledger.tally(removed, series)
        ratio = hit_ratio(tally.kept, tally.flips, ledger.base_rate, GONE)
        if not tally.n or ratio > SOMETHING:
            return False
        if ratio <= NOTHING:
            return True
    return False


def read_removed(ledger: Ledger) -> Tally | None:
    """What happened with everything that the agent read removed; None when that was not tried."""
    tally = ledger.tally(_read(ledger), GATE)
    return tally if tally.n else None


def _read(ledger: Ledger) -> Variant:
    return frozenset(range(ledger.problem.leaves)) - ledger.problem.pinned
