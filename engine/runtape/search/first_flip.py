"""How many of the most suspicious units have to go before the decision flips?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from .batch import Batch
from .decode import GONE, HIGHEST_BASE, Chances
from .ledger import Ledger, Variant
from .protocol import Search
from .units import LARGEST_SHARE

PREFIX = "prefix"
"""Series of these reruns. They remove far more than a pool may, so they must not feed the decode of the pools."""
ROUNDS, ROUNDS_INTERMITTENT = 50, 16
"""Large removals break some contexts, so a bisection needs many answers; an intermittent decision cannot afford
them."""
IN_A_WAVE = 4
"""Samples of a removal in one round, where rounds are dear."""
SURE = 0.95
ASKED, ASKED_FAST = (0.5,), (0.25, 0.5, 0.75)
"""Quantiles of the posterior at which a round asks. The median alone takes about a tenth fewer samples and a quarter
more rounds."""
LIKELY = 0.4
"""Chance from which the best answer and the one before it are asked directly."""
HIGHEST_SPARED, LOWEST_RATE = 0.97, 1e-4
"""Rates are kept off 0 and 1, so that no single sample rules a length out."""
FRAGILITY = 0.5
"""Share of the base rate that removing everything is expected to cost by damage alone."""


@dataclass(frozen=True, slots=True)
class Flip:
    """The shortest prefix whose removal flips the decision."""

    end: int
    """Its length; 0 when removing all of the sequence does not flip."""
    chance: float
    """How sure that is, 0-1."""


def first_flip(ledger: Ledger, order: Sequence[int], also: Sequence[int], never: float) -> Search[Variant, Flip]:
    """Searches the shortest prefix of `order` that flips the decision when removed together with `also`.

    A noisy bisection on the exact posterior over the length, jointly with how low the rate falls. Early ends are
    likelier beforehand, since the order puts suspicious units first.

    Args:
        ledger: The state of the search.
        order: Units, most suspicious first.
        also: Units that are removed each time.
        never: Chance beforehand that no prefix flips, 0-1.
    """
    length = len(order)
    if not length:
        return Flip(0, 1.0)
    early = 1 / (np.arange(1, length + 1) + 2.0)
    start = np.concatenate(([never], (1 - never) * early / early.sum()))
    odds = np.log(start)[:, None] + np.log(np.asarray(GONE.weights))[None, :]
    chances = _over_lengths(odds)
    quantiles = ASKED_FAST if ledger.settings.fast else ASKED
    samples = IN_A_WAVE if ledger.settings.profile == "waves" else 2 if ledger.intermittent else 1
    for turn in range(ROUNDS_INTERMITTENT if ledger.intermittent else ROUNDS):
        if chances.max() > SURE:
            break
        lengths = _geometric(length, alone=not also) if turn == 0 else _informative(chances, quantiles)
        batch = Batch(ledger)
        variants = {size: _variant(ledger, order, also, size) for size in lengths}
        before = {size: ledger.tally(variant, PREFIX) for size, variant in variants.items()}
        for variant in variants.values():
            batch.more(variant, samples, PREFIX)
        if not batch:
            break
        yield from batch.ask()
        for size, variant in variants.items():
            now, then = ledger.tally(variant, PREFIX), before[size]
            within, beyond = _evidence(ledger, variant, now.kept - then.kept, now.flips - then.flips)
            odds += beyond
            odds[1 : size + 1] += within - beyond
        chances = _over_lengths(odds)
    best = int(chances.argmax())
    return Flip(best, float(chances[best]))


def _over_lengths(odds: Chances) -> Chances:
    """The chance of each length."""
    weight = np.exp(odds - odds.max()).sum(axis=1)
    return np.asarray(weight / weight.sum(), dtype=np.float64)


def _geometric(length: int, *, alone: bool) -> list[int]:
    """Lengths to begin with, each four times the one before.

    Where nothing else is gone, the first unit has been looked at by itself and in pools, and all of them may not flip
    either; further on, all of them are known to flip.
    """
    sizes = [length] if alone or length == 1 else []
    size = 4 if alone else 1
    while 2 * size < length:
        sizes.append(size)
        size *= 4
    return sorted(sizes) or [length]


def _informative(chances: Chances, quantiles: Sequence[float]) -> list[int]:
    """Lengths at some quantiles of the posterior, and around a likely answer."""
    length = len(chances) - 1
    reached = np.cumsum(np.concatenate((chances[1:], chances[:1])))
    sizes = {min(length, int(np.searchsorted(reached, share)) + 1) for share in quantiles}
    best = int(chances.argmax())
    if chances[best] > LIKELY:
        sizes |= {size for size in (best, best - 1) if size > 0}
    return sorted(sizes)


def _variant(ledger: Ledger, order: Sequence[int], also: Sequence[int], size: int) -> Variant:
    """The prefix and `also`.

    When much is removed, two units further down go too, so that no broken context is asked twice.
    """
    units = [*also, *order[:size]]
    leaves = ledger.units.leaves(units)
    rest = order[size:]
    if len(leaves) > LARGEST_SHARE * ledger.problem.leaves and len(rest) > 4:
        extra = ledger.rng.choice(len(rest), 2, replace=False)
        leaves |= ledger.units.leaves(rest[int(index)] for index in extra)
    return leaves


def _evidence(ledger: Ledger, variant: Variant, kept: int, flips: int) -> tuple[Chances, float]:
    """Log likelihood of some samples: by level when the flip lies within the prefix, and when it lies beyond."""
    removed = len(variant) / ledger.problem.leaves
    excess = max(0.0, removed - LARGEST_SHARE) / (1 - LARGEST_SHARE)
    spared = min(ledger.base_rate, HIGHEST_SPARED) * (1 - FRAGILITY * excess)
    rates = np.maximum(np.asarray(GONE.shares) * min(ledger.base_rate, HIGHEST_BASE), LOWEST_RATE)
    within = np.asarray(kept * np.log(rates) + flips * np.log1p(-rates), dtype=np.float64)
    return within, kept * log(spared) + flips * log(1 - spared)
