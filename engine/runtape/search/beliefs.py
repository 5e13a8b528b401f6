"""What the samples so far say about each unit."""

from __future__ import annotations

import numpy as np

from .decode import USUAL, Chances, Levels, Observation, decode
from .ledger import Ledger


def beliefs(ledger: Ledger, levels: Levels = USUAL) -> Chances:
    """The chance that each unit is needed, 0-1.

    Variants without a proven unit, or without a whole proven set, are explained: they say nothing about the others.
    """
    explained = [slot.units for slot in ledger.proven if slot.units]
    observations: list[Observation] = []
    for variant, tally in ledger.nominating():
        units = ledger.units.within(variant)
        if tally.n and not any(known.issubset(units) for known in explained):
            observations.append(Observation(np.asarray(units, dtype=np.intp), tally.kept, tally.flips))
    return decode(ledger.prior, observations, ledger.base_rate, levels)


def doubts(ledger: Ledger, chances: Chances) -> Chances:
    """The same chances, 0 for units that are held in place or had a slot: what pooling could still find."""
    rest = np.array(chances, dtype=np.float64)
    rest[sorted(ledger.hold | ledger.nominated | ledger.proven_units)] = 0.0
    return rest
