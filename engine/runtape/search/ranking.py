"""Proven slots as claims, headline first."""

from __future__ import annotations

from ..stats.rates import newcombe
from .finding import Claim, Kind
from .headline import acting_share, acts
from .ledger import Ledger
from .slot import Slot


def ranked_claims(ledger: Ledger) -> tuple[Claim, ...]:
    """Every proven claim with its counts, effect and kind.

    Causes that make the agent act differently come first, the clearer the earlier; then what the agent read before the
    system prompt and the task; then by wording, then by drop. Where the API forces a call, acting differently means
    nothing, and the lower end of the drop's interval leads instead.
    """
    claims = [(slot, _claim(ledger, slot)) for slot in ledger.proven]
    return tuple(claim for _, claim in sorted(claims, key=lambda pair: _order(ledger, *pair)))


def _claim(ledger: Ledger, slot: Slot) -> Claim:
    """One proven slot as a claim."""
    base, without = ledger.base, ledger.fresh(slot)
    effect = newcombe(base.kept, base.n, without.kept, without.n)
    return Claim(
        leaves=tuple(sorted(slot.leaves)),
        kind=_kind(ledger, slot),
        base=base,
        without=without,
        p=slot.p,
        drop=effect.drop,
        low=effect.low,
        high=effect.high,
        put_back=tuple(
            (leaf, ledger.tally(slot.leaves - {leaf}, name)) for leaf, name in sorted(slot.put_back.items())
        ),
    )


def _kind(ledger: Ledger, slot: Slot) -> Kind:
    """What the claim says; a set is redundant only when each member was proven to be enough."""
    if len(slot.leaves) > 1:
        return "redundant" if slot.leaves <= slot.enough else "together"
    return "decisive" if acts(ledger.fresh(slot)) else "required"


def _order(ledger: Ledger, slot: Slot, claim: Claim) -> tuple[float, ...]:
    """Sort key; smaller is closer to the headline."""
    share = acting_share(claim.without)
    lead = -claim.low if ledger.problem.forced else -float(round(5 * share))
    pinned = any(leaf in ledger.problem.pinned for leaf in claim.leaves)
    score = max(ledger.units.scores[unit] for unit in slot.units)
    return (
        0.0 if ledger.problem.forced or acts(claim.without) else 1.0,
        lead,
        float(pinned),
        -score,
        -claim.drop,
        slot.number,
    )
