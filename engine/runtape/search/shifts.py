"""What the reruns showed beyond what is proven: the largest drops, and leaves that push the decision away."""

from __future__ import annotations

from ..stats.exact import fisher_less
from ..stats.rates import newcombe
from ..stats.tally import Tally
from .finding import Shift
from .ledger import Ledger, Variant

SHOWN = 3
RERUN = 2
"""Samples from which a removal says anything on its own."""
MORE_OFTEN = 0.01
"""p below which a leaf is said to push the decision away; many leaves are looked at, so this is a hint."""


def largest_shifts(ledger: Ledger) -> tuple[Shift, ...]:
    """The largest drops seen, by the lower end of their intervals; the reruns of one removal are taken together."""
    seen: dict[Variant, list[Tally]] = {}
    for variant, tally in ledger.nominating():
        seen.setdefault(variant, []).append(tally)
    base = ledger.base
    found: list[tuple[float, int, Shift]] = []
    for variant, tallies in seen.items():
        whole = _together(tallies)
        if base.n and whole.n >= RERUN and whole.rate < base.rate:
            drop = newcombe(base.kept, base.n, whole.kept, whole.n)
            found.append((-drop.low, len(variant), Shift(tuple(sorted(variant)), whole)))
    found.sort(key=lambda shift: shift[:2])
    return tuple(shift for *_, shift in found[:SHOWN])


def against(ledger: Ledger) -> tuple[Shift, ...]:
    """Units without which the decision was made more often, over all removals that held them; surest first."""
    base = ledger.base
    if not base.flips:
        return ()
    seen: dict[int, list[Tally]] = {}
    for variant, tally in ledger.nominating():
        for unit in ledger.units.within(variant):
            seen.setdefault(unit, []).append(tally)
    found: list[tuple[float, int, Tally]] = []
    for unit, tallies in seen.items():
        whole = _together(tallies)
        p = fisher_less(base.kept, base.n, whole.kept, whole.n)
        if p <= MORE_OFTEN:
            found.append((p, unit, whole))
    found.sort(key=lambda shift: shift[:2])
    return tuple(Shift(tuple(sorted(ledger.units.members[unit])), whole) for _, unit, whole in found[:SHOWN])


def _together(tallies: list[Tally]) -> Tally:
    """Several tallies as one; what happened instead is left out."""
    return Tally(
        sum(tally.kept for tally in tallies), sum(tally.n for tally in tallies), sum(tally.other for tally in tallies)
    )
