"""Is each member of a proven set enough on its own?"""

from __future__ import annotations

from ..stats.exact import fisher_less
from ..stats.slots import MEMBER_CUTOFFS, MEMBER_LOOKS, MEMBER_SLOTS
from .batch import Batch
from .confirm import settle_open
from .ledger import Ledger, Variant
from .protocol import Search
from .slot import PutBack, Slot

RESTORED_SHARE = 0.5
"""A member whose return brings back less than this share of the base rate is not what the set is about."""


def prove_members(ledger: Ledger) -> Search[Variant, None]:
    """Puts the members of each proven set back one at a time.

    A member that does not bring the decision back is no member: the set without it is put to the test on fresh reruns
    and replaces the larger one when it is proven. One that is neither proven nor dropped stays, shown with its counts.
    """
    for slot in list(ledger.proven):
        if len(slot.leaves) < 2 or slot.put_back:
            continue
        yield from _put_back(ledger, slot)
        idle = {leaf for leaf in slot.put_back if _is_idle(ledger, slot, leaf)}
        smaller = slot.leaves - idle
        if not idle or not smaller:
            continue
        narrowed = ledger.open_slot(slot.units & set(ledger.units.within(smaller)), smaller)
        if narrowed:
            yield from settle_open(ledger)
            if narrowed.state == "proven":
                slot.replaced = True
                narrowed.put_back = {leaf: slot.put_back[leaf] for leaf in slot.put_back if leaf in smaller}
                narrowed.enough = slot.enough & smaller


def _put_back(ledger: Ledger, slot: Slot) -> Search[Variant, None]:
    """Takes the looks at every member until each is proven enough or no look is left."""
    for leaf in sorted(slot.leaves)[: MEMBER_SLOTS - ledger.members_tested]:
        slot.put_back[leaf] = PutBack(slot.leaves - {leaf}, f"member:{ledger.members_tested}")
        ledger.members_tested += 1
    for place, look in enumerate(MEMBER_LOOKS):
        pending = [leaf for leaf in slot.put_back if leaf not in slot.enough and not _is_idle(ledger, slot, leaf)]
        if not pending:
            return
        batch = Batch(ledger)
        batch.reach(slot.leaves, look.base, slot.series)
        for leaf in pending:
            batch.reach(slot.put_back[leaf].without, look.fresh, slot.put_back[leaf].series)
        if batch:
            yield from batch.ask()
        gone = ledger.record(slot.leaves, slot.series)
        for leaf in pending:
            back = ledger.record(slot.put_back[leaf].without, slot.put_back[leaf].series)
            if gone.asked < look.base or back.asked < look.fresh:
                continue
            # The roles are swapped: here the control is the low side, so lost samples count as repeats there.
            p = fisher_less(gone.most_kept(look.base), look.base, back.least_kept(look.fresh), look.fresh)
            if p <= MEMBER_CUTOFFS[place]:
                slot.enough.add(leaf)


def _is_idle(ledger: Ledger, slot: Slot, leaf: int) -> bool:
    """Whether the decision clearly stays away although this leaf is back."""
    back = ledger.tally(slot.put_back[leaf].without, slot.put_back[leaf].series)
    return back.n > 0 and leaf not in slot.enough and back.rate < RESTORED_SHARE * ledger.base_rate
