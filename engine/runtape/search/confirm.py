"""Takes the looks of the open slots."""

from __future__ import annotations

from ..stats.slots import LOOKS
from .batch import Batch
from .drift import check_drift
from .keep_only import expect_keep_only
from .ledger import RECORDED, Ledger, Variant
from .protocol import Search
from .slot import Counts

FRESH_RERUNS = 6
"""Fresh reruns behind the headline, and wherever reruns disagree on what the agent does instead. With three of them
the wrong cause leads twice as often."""
FIRST_LOOK_FAST = 1
"""Five fresh reruns at once: the first look is nearly always followed by a second or by more reruns of the headline."""


def want_looks(ledger: Ledger, batch: Batch) -> None:
    """Adds what the next look of every open slot needs."""
    for slot in ledger.open:
        sizes = LOOKS[max(slot.look, FIRST_LOOK_FAST)] if ledger.settings.fast else slot.sizes
        batch.base(sizes.base)
        batch.reach(slot.leaves, sizes.fresh, slot.series)
        batch.ahead(slot.leaves, FRESH_RERUNS, slot.series)
    expect_keep_only(ledger, batch)


def take_looks(ledger: Ledger) -> None:
    """Judges every open slot whose next look has been asked for.

    Samples that did not count are read against the claim on both sides. Claims get rarer with that, never commoner, so
    the error bound of a full look holds for a short one.
    """
    base = ledger.record(RECORDED, ledger.base_series)
    for slot in ledger.open:
        fresh = ledger.record(slot.leaves, slot.series)
        while slot.state == "open" and base.asked >= slot.sizes.base and fresh.asked >= slot.sizes.fresh:
            counts = Counts(
                base_kept=base.least_kept(slot.sizes.base),
                kept=fresh.most_kept(slot.sizes.fresh),
                seen_kept=fresh.last.kept,
                seen=fresh.last.n,
            )
            slot.judge(counts, ledger.base_rate)


def settle_open(ledger: Ledger) -> Search[Variant, None]:
    """Looks at the open slots until none is open."""
    while ledger.open:
        batch = Batch(ledger)
        want_looks(ledger, batch)
        if batch:
            yield from batch.ask()
            yield from check_drift(ledger)
        take_looks(ledger)
