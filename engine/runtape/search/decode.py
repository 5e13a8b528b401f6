"""Belief propagation: which units do the outcomes of overlapping pools point at?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Chances: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.intp]

SWEEPS = 12
DAMPING = 0.5
MOST_ODDS = 30.0
HIGHEST_BASE = 0.99
"""A base of 10 of 10 does not mean that a flip is impossible without a cause."""


@dataclass(frozen=True, slots=True)
class Levels:
    """What the rate may be once a needed unit is gone, as shares of the base rate, and how likely each share is."""

    shares: tuple[float, ...]
    weights: tuple[float, ...]


USUAL = Levels((0.02, 0.15, 0.40, 1.0), (0.40, 0.30, 0.25, 0.05))
"""The last level lets no kept decision rule a unit out for good: its effect may be hidden in that pool."""
WEAK = Levels((0.05, 0.35, 1.0), (0.30, 0.65, 0.05))
"""For causes that leave a third of the rate behind."""
GONE = Levels((0.02, 0.15, 0.40), (0.40, 0.30, 0.30))
"""For variants of which nothing can hide the effect, because all that could is removed too."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The samples of one variant that removes some units."""

    units: Numbers
    """Units removed, no duplicates."""
    kept: int
    flips: int


def hit_ratio(kept: int, flips: int, base: float, levels: Levels = USUAL) -> float:
    """How much likelier the outcomes are when a needed unit is gone than when none is; 0 < `base` < 1."""
    without = min(base, HIGHEST_BASE)
    gone = sum(
        weight * (share * without) ** kept * (1 - share * without) ** flips
        for share, weight in zip(levels.shares, levels.weights, strict=True)
    )
    return gone / max(base**kept * (1 - base) ** flips, 1e-300)


def decode(
    prior: Sequence[float] | Chances, observations: Sequence[Observation], base: float, levels: Levels = USUAL
) -> Chances:
    """The chance, 0-1, that each unit is needed, given what happened without some of them.

    The model is a noisy OR: a variant is hit when it removes at least one needed unit, and a hit lowers the rate from
    `base` to one of `levels`. Messages run over the edges between variants and units only, so the cost grows with the
    units that were removed, not with variants times units.

    Args:
        prior: One chance per unit, 0 < chance < 1.
        observations: Variants with their counts; the order does not matter.
        base: The rate of the decision as recorded, 0 < base < 1.
        levels: Rates to expect after a hit.
    """
    start = np.array(prior, dtype=np.float64)
    informative = [seen for seen in observations if len(seen.units) and seen.kept + seen.flips]
    if not informative:
        return start
    unit = np.concatenate([seen.units for seen in informative])
    sizes = np.array([len(seen.units) for seen in informative])
    variant = np.repeat(np.arange(len(sizes)), sizes)
    first = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    ratio = np.array([hit_ratio(seen.kept, seen.flips, base, levels) for seen in informative])[variant]
    odds = np.log(start) - np.log1p(-start)
    message = np.zeros(len(unit))
    for sweep in range(SWEEPS):
        total = odds + _sums(message, unit, len(start))
        others = _chance(total[unit] - message)
        spared = np.log1p(-np.minimum(others, 1 - 1e-9))
        none_of_the_rest = np.exp(np.add.reduceat(spared, first)[variant] - spared)
        fresh = np.log(ratio / (none_of_the_rest + ratio * (1 - none_of_the_rest)))
        message = fresh if sweep == 0 else DAMPING * message + (1 - DAMPING) * fresh
    return _chance(odds + _sums(message, unit, len(start)))


def _sums(message: Chances, unit: Numbers, units: int) -> Chances:
    """Messages added up by unit."""
    return np.asarray(np.bincount(unit, weights=message, minlength=units), dtype=np.float64)


def _chance(odds: Chances) -> Chances:
    """Log odds as a chance."""
    bounded = np.minimum(np.maximum(odds, -MOST_ODDS), MOST_ODDS)
    return np.asarray(1 / (1 + np.exp(-bounded)), dtype=np.float64)
