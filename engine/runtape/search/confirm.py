"""Takes the looks of the open slots."""

from __future__ import annotations

from .batch import Batch
from .ledger import BASE, RECORDED, Ledger, Variant
from .protocol import Search
from .slot import Counts


def want_looks(ledger: Ledger, batch: Batch) -> None:
    """Adds what the next look of every open slot needs."""
    for slot in ledger.open:
        batch.base(slot.sizes.base)
        batch.reach(slot.leaves, slot.sizes.fresh, slot.series)


def take_looks(ledger: Ledger) -> None:
    """Judges every open slot whose next look has been asked for.

    Samples that did not count are read against the claim on both sides. Claims get rarer with that, never commoner, so
    the error bound of a full look holds for a short one.
    """
    base = ledger.record(RECORDED, BASE)
    for slot in ledger.open:
        fresh, sizes = ledger.record(slot.leaves, slot.series), slot.sizes
        if base.asked >= sizes.base and fresh.asked >= sizes.fresh:
            counts = Counts(
                base_kept=base.least_kept(sizes.base),
                kept=fresh.most_kept(sizes.fresh),
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
        take_looks(ledger)
