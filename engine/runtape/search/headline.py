"""Whether a proven cause makes the agent act differently, and the last reruns behind it."""

from __future__ import annotations

from ..stats.tally import Tally
from .batch import Batch
from .keep_only import want_keep_only
from .ledger import Ledger, Variant
from .protocol import Search

FRESH_RERUNS = 6
"""Fresh reruns behind anything that may become the headline. With three the wrong cause leads twice as often."""
RERUNS_WHEN_TIED = 10
"""Fresh reruns when six leave it open whether the agent mostly acts differently or mostly stops."""
DECISIVE_SHARE = 0.5


def acting_share(without: Tally) -> float:
    """Share of the flips in which the agent did something else rather than stop or ask, shrunk towards a half."""
    return (without.other + 0.25) / (without.flips + 0.5)


def acts(without: Tally) -> bool:
    """Whether the flips are mostly another action."""
    return acting_share(without) >= DECISIVE_SHARE


def has_headline(ledger: Ledger) -> bool:
    """Whether some proven cause makes the agent act differently."""
    return any(acts(ledger.fresh(slot)) for slot in ledger.proven)


def settle_headline(ledger: Ledger, *, check: bool = False) -> Search[Variant, None]:
    """Tops up the causes that may become the headline; with that, or when told, checks whether the proven ones suffice.

    These reruns decide no claim: they sharpen the effect and tell what the agent does instead.
    """
    batch = Batch(ledger)
    _want_reruns(ledger, batch)
    if batch or check:
        want_keep_only(ledger, batch)
    while batch:
        yield from batch.ask()
        batch = Batch(ledger)
        _want_reruns(ledger, batch)


def _want_reruns(ledger: Ledger, batch: Batch) -> None:
    """Adds what is missing behind each cause that made the agent act differently at least once."""
    for slot in ledger.proven:
        without = ledger.fresh(slot)
        if without.other:
            tied = without.n >= FRESH_RERUNS and 2 * without.other == without.flips
            batch.reach(slot.leaves, RERUNS_WHEN_TIED if tied else FRESH_RERUNS, slot.series)
