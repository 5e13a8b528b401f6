"""Proven slots as claims, headline first."""

from __future__ import annotations

from ..stats.rates import Drop, newcombe
from .acting import acting_share, acts
from .finding import Claim, Kind
from .ledger import Ledger
from .slot import Slot


def ranked_claims(ledger: Ledger) -> tuple[Claim, ...]:
    """Every proven claim with its counts, effect and kind, in the order of `ranked_slots`."""
    return tuple(_claim(ledger, slot) for slot in ranked_slots(ledger))


def ranked_slots(ledger: Ledger) -> list[Slot]:
    """The proven slots, headline first.

    Causes that make the agent act differently come first, the clearer the earlier; then what the agent read before the
    system prompt and the task; then by wording, then by drop. Where the API forces a call, acting differently means
    nothing, and the lower end of the drop's interval leads instead.
    """
    return sorted(ledger.proven, key=lambda slot: _order(ledger, slot))


def _claim(ledger: Ledger, slot: Slot) -> Claim:
    """One proven slot as a claim."""
    effect = _effect(ledger, slot)
    return Claim(
        leaves=tuple(sorted(slot.leaves)),
        kind=_kind(ledger, slot),
        base=ledger.base_of(slot),
        without=ledger.fresh(slot),
        p=slot.p,
        drop=effect.drop,
        low=effect.low,
        high=effect.high,
        put_back=tuple((leaf, ledger.tally(back.without, back.series)) for leaf, back in sorted(slot.put_back.items())),
    )


def _effect(ledger: Ledger, slot: Slot) -> Drop:
    """How far the rate falls, by all base and all fresh reruns."""
    base, without = ledger.base_of(slot), ledger.fresh(slot)
    return newcombe(base.kept, base.n, without.kept, without.n)


def _kind(ledger: Ledger, slot: Slot) -> Kind:
    """What the claim says; a set is redundant only when each member was proven to be enough."""
    if not slot.units:
        return "order"
    if len(slot.leaves) > 1:
        return "redundant" if slot.leaves <= slot.enough else "together"
    return "decisive" if acts(ledger.fresh(slot)) else "required"


def _order(ledger: Ledger, slot: Slot) -> tuple[float, ...]:
    """Sort key; smaller is closer to the headline."""
    effect, without = _effect(ledger, slot), ledger.fresh(slot)
    if ledger.problem.forced:
        lead = (0.0, -effect.low)
    else:
        lead = (float(not acts(without)), -float(round(5 * acting_share(without))))
    pinned = any(leaf in ledger.problem.pinned for leaf in slot.leaves)
    score = max((ledger.units.scores[unit] for unit in slot.units), default=0.0)
    return (*lead, float(pinned), -score, -effect.drop, slot.number)
