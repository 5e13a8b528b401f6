"""Whether a proven cause makes the agent act differently, and the last reruns behind it."""

from __future__ import annotations

from .acting import acts, is_mixed, is_tied
from .batch import Batch
from .confirm import FRESH_RERUNS
from .keep_only import want_keep_only
from .ledger import Ledger, Variant
from .protocol import Search
from .ranking import ranked_slots

RERUNS_WHEN_TIED = 10
"""Fresh reruns when six leave it open whether the agent mostly acts differently or mostly stops."""


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
    """Adds what is missing behind the leading cause, and behind those whose kind is in doubt."""
    for place, slot in enumerate(ranked_slots(ledger)):
        without = ledger.fresh(slot)
        # Where the API forces a call the lower end of the drop ranks, and equal numbers of reruns make that fair.
        if is_mixed(without) or (without.other and (place == 0 or ledger.problem.forced)):
            tied = without.n >= FRESH_RERUNS and is_tied(without)
            batch.reach(slot.leaves, RERUNS_WHEN_TIED if tied else FRESH_RERUNS, slot.series)
