"""Reruns that somebody asked for beyond those that decide."""

from __future__ import annotations

from .batch import Batch
from .ledger import Ledger, Variant
from .protocol import Search
from .ranking import ranked_slots


def top_up(ledger: Ledger) -> Search[Variant, None]:
    """Has at least `Settings.runs` samples of the context as recorded, and without the leading cause.

    Comes last, since a look at an open slot wants the base at its own sample size. These reruns decide no claim.
    """
    if not ledger.settings.reruns or not ledger.base.n:
        return
    while batch := _wanted(ledger):
        yield from batch.ask()


def _wanted(ledger: Ledger) -> Batch:
    batch = Batch(ledger)
    batch.base(ledger.settings.reruns)
    for slot in ranked_slots(ledger)[:1]:
        batch.reach(slot.leaves, ledger.settings.reruns, slot.series)
    return batch
