"""Which units to remove together next."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from .decode import Chances, Numbers
from .units import Units

EVEN_ODDS = 0.69
"""Mass, in -log of the chance that no needed unit is in the pool, at which a pool is as likely to flip as not."""
NEGLIGIBLE = 1e-4
"""Units below this chance are not worth pooling again."""
HIGHEST = 0.97
SNAP = 0.10
"""A contiguous pool ends at the border of a message when one lies within this share of its mass."""

Pool = tuple[int, ...]


def partition(
    units: Units,
    among: Sequence[int],
    mass: Sequence[float],
    *,
    count: int,
    cap: int,
    rng: np.random.Generator | None = None,
) -> list[Pool]:
    """Divides units into about `count` pools of equal mass, none of more than `cap` leaves, each unit in one pool.

    Args:
        units: All units of the context.
        among: The units to divide, in context order.
        mass: Prior chance of every unit of the context.
        count: Pools wanted; more come back where the cap divides one.
        cap: Most leaves in a pool.
        rng: None cuts in context order, at borders of messages where one is near; otherwise the order is random.
    """
    if not among:
        return []
    order = np.asarray(among, dtype=np.intp)
    if rng is not None:
        order = rng.permutation(order)
    reached = np.cumsum(np.asarray(mass)[order])
    share = float(reached[-1]) / count
    # A border belongs before the unit that would carry its pool past the share.
    ends = [int(np.searchsorted(reached, share * (pool + 1), side="right")) for pool in range(count - 1)]
    if rng is None:
        ends = [_snap(units, order, reached, end, SNAP * share) for end in ends]
    cuts = [0, *accumulate((min(end, len(order)) for end in ends), max), len(order)]
    pools = [order[start:end] for start, end in pairwise(cuts) if end > start]
    return [part for pool in pools for part in _capped(units, pool.tolist(), cap)]


def scatter(units: Units, among: Sequence[int], *, count: int, cap: int, rng: np.random.Generator) -> list[Pool]:
    """Draws `count` pools at random, each as large as the cap allows, every unit in about as many as any other.

    They overlap, so that fewer units share all of their pools, and cannot be told apart, than in partitions.
    """
    size = np.array([len(members) for members in units.members])
    used = np.zeros(len(units))
    pools: list[Pool] = []
    for _ in range(count if among else 0):
        order = rng.permutation(np.asarray(among, dtype=np.intp))
        order = order[np.argsort(used[order], kind="stable")]
        chosen = order[np.cumsum(size[order]) <= cap]
        chosen = chosen if len(chosen) else order[:1]
        used[chosen] += 1
        pools.append(tuple(sorted(chosen.tolist())))
    return pools


def zoom(
    units: Units, chances: Chances, among: Sequence[int], *, count: int, cap: int, rng: np.random.Generator
) -> list[Pool]:
    """Draws up to `count` pools with about even odds of a flip, alternately contiguous and scattered.

    Args:
        units: All units of the context.
        chances: Present chance of every unit of the context.
        among: The units that may be removed, in context order.
        count: Pools wanted; fewer come back when nothing is left to doubt.
        cap: Most leaves in a pool; a single unit is always allowed.
        rng: Where contiguous pools start, and what is scattered.
    """
    live = np.asarray([unit for unit in among if chances[unit] > NEGLIGIBLE], dtype=np.intp)
    if not len(live):
        return []
    mass = -np.log1p(-np.minimum(chances, HIGHEST))
    target = min(EVEN_ODDS, float(mass[live].sum()) / 2)
    size = np.array([len(members) for members in units.members])
    used = np.zeros(len(units))
    pools: list[Pool] = []
    for turn in range(count):
        contiguous = turn % 2 == 0
        if contiguous:
            order = np.roll(live, -int(rng.integers(len(live))))
        else:
            order = rng.permutation(live)
            order = order[np.argsort(used[order], kind="stable")]
        reached = np.cumsum(mass[order])
        end = min(int(np.searchsorted(reached, target)) + 1, len(order))
        if contiguous:
            end = max(1, _snap(units, order, reached, end, SNAP * target))
        end = min(end, max(1, int(np.searchsorted(np.cumsum(size[order]), cap, side="right"))))
        used[order[:end]] += 1
        pools.append(tuple(sorted(order[:end].tolist())))
    return pools


def _snap(units: Units, order: Numbers, reached: NDArray[np.float64], end: int, slack: float) -> int:
    """The nearest end that is a border between messages and differs by at most `slack` in mass; else `end`."""
    if not 0 < end < len(order):
        return end
    mass = reached[end - 1]
    for away in range(len(order)):
        near = [at for at in (end - away, end + away) if 0 < at < len(order) and abs(reached[at - 1] - mass) <= slack]
        if not near:
            return end
        for at in near:
            if units.messages[order[at - 1]] != units.messages[order[at]]:
                return at
    return end


def _capped(units: Units, pool: Sequence[int], cap: int) -> list[Pool]:
    """Divides a pool so that no part removes more than `cap` leaves; a single unit is never divided."""
    parts: list[list[int]] = [[]]
    size = 0
    for unit in pool:
        size += len(units.members[unit])
        if parts[-1] and size > cap:
            parts.append([])
            size = len(units.members[unit])
        parts[-1].append(unit)
    return [tuple(sorted(part)) for part in parts]
