"""Where to look first, from the chance of the decision in single contexts.

Where one reply tells how likely the decision is, a context costs one reading instead of several samples, and small
drops show. A reading proves nothing: what this search returns are suspects, which the sampled search tests like any
others.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from .ledger import RECORDED, Variant
from .pools import partition
from .prior import prior
from .problem import Problem
from .slot import LARGEST_SHARE_LEFT, LARGEST_SHARE_LEFT_BY_SET
from .units import Units, largest_pool, unite

Readings: TypeAlias = "Sequence[float | None]"
"""A chance per variant, 0-1, in the order asked; None where it could not be read."""

MOST = 40
"""Contexts read at most: a search by samples sends about as many."""
NOISE = 0.1
"""Least drop that is believed. A server that keeps the start of a context computes the rest differently: the same
request was seen to give 0.40, 0.43 and 0.47."""
FIRST = 5
"""Units read alone before anything else."""
TOGETHER = (2, 4, 8)
"""So many of the most suspicious units are then removed together: copies that are each enough show only so."""
POOLS = 6
DEEPEST = 2
"""Pools that are divided further, those with the largest drops."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What the readings point to."""

    base: float | None = None
    """Chance of the decision as recorded; None when it could not be read."""
    alone: tuple[Variant, ...] = ()
    """Leaves of each unit without which the decision is much less likely, largest drop first."""
    together: tuple[Variant, ...] = ()
    """Leaves of sets that show a drop only when all of them are gone."""
    passes: int = 0
    """Contexts read."""

    @property
    def suspects(self) -> frozenset[int]:
        """The leaves of units that matter alone."""
        return frozenset[int]().union(*self.alone)


def guess(problem: Problem, most: int = MOST) -> Generator[Sequence[Variant], Readings, Guess]:
    """Yields variants to be read, receives their chances, returns what they point to.

    Reads the base, the most suspicious units alone, then several together, then pools that are halved, then every other
    unit alone, until something shows or `most` contexts are read. Equal problems and readings give equal guesses.

    Args:
        problem: The context.
        most: Contexts to read at most.
    """
    search = _Guessing(problem, most)
    found: list[frozenset[int]] = []
    with suppress(_MostRead):
        yield from search.look(found)
    found.sort(key=search.chance)
    leaves = [(len(units), search.units.leaves(units)) for units in found]
    return Guess(
        base=search.base,
        alone=tuple(variant for many, variant in leaves if many == 1),
        together=tuple(variant for many, variant in leaves if many > 1),
        passes=search.passes,
    )


class _MostRead(Exception):
    """Raised when as many contexts were read as may be."""


_Reading: TypeAlias = Generator[Sequence[Variant], Readings, None]


class _Guessing:
    """The readings so far, and what to read next."""

    def __init__(self, problem: Problem, most: int) -> None:
        self.units: Units = unite(problem)
        self._cap = largest_pool(problem.leaves)
        self._most = most
        self._read: dict[Variant, float | None] = {}

    @property
    def passes(self) -> int:
        """Contexts read."""
        return len(self._read)

    @property
    def base(self) -> float | None:
        """Chance of the decision as recorded."""
        return self._read.get(RECORDED)

    def chance(self, units: frozenset[int]) -> float:
        """Chance of the decision without some units; 1 where it was not read."""
        known = self._read.get(self.units.leaves(units))
        return 1.0 if known is None else known

    def look(self, found: list[frozenset[int]]) -> _Reading:
        """The recipe; adds sets of units to `found`."""
        yield from self._ask([frozenset()])
        if self.base is None or self.base <= NOISE:
            return
        units = self.units
        order = sorted(range(len(units)), key=lambda unit: (unit not in units.suspects, -units.scores[unit], unit))
        free = [unit for unit in order if unit not in units.pinned or unit in units.suspects] or order
        yield from self._alone(free[:FIRST], found)
        for many in TOGETHER:
            if not found and many <= len(free) and (many == TOGETHER[0] or many <= self._cap):
                yield from self._narrow(tuple(free[:many]), found)
        if not found:
            yield from self._pools(sorted(free), found)
        if not found:
            yield from self._alone(order, found)

    def _alone(self, among: Sequence[int], found: list[frozenset[int]]) -> _Reading:
        singles = [frozenset({unit}) for unit in among]
        yield from self._ask(singles)
        found += [single for single in singles if self._drops(single)]

    def _pools(self, among: Sequence[int], found: list[frozenset[int]]) -> _Reading:
        pools = partition(self.units, among, prior(self.units), count=POOLS, cap=self._cap)
        yield from self._ask([frozenset(pool) for pool in pools])
        low = [pool for pool in pools if self._drops(frozenset(pool))]
        low.sort(key=lambda pool: self.chance(frozenset(pool)))
        for pool in low[:DEEPEST]:
            yield from self._narrow(pool, found)

    def _narrow(self, pool: Sequence[int], found: list[frozenset[int]]) -> _Reading:
        """Halves a pool while a half shows the drop, then takes out every unit that it does not need."""
        whole = frozenset(pool)
        yield from self._ask([whole])
        if not self._drops(whole):
            return
        if len(pool) > 1:
            halves = [pool[: len(pool) // 2], pool[len(pool) // 2 :]]
            yield from self._ask([frozenset(half) for half in halves])
            dropping = [half for half in halves if self._drops(frozenset(half))]
            for half in dropping:
                yield from self._narrow(half, found)
            if dropping:
                return
        # One pass over the members may leave one in that only a later removal shows to be idle.
        left, before = whole, frozenset[int]()
        while left != before:
            before = left
            for unit in reversed(pool):
                if unit in left and len(left) > 1:
                    yield from self._ask([left - {unit}])
                    left = left - {unit} if self._drops(left - {unit}) else left
        if self._drops(left, LARGEST_SHARE_LEFT if len(left) == 1 else LARGEST_SHARE_LEFT_BY_SET):
            found.append(left)

    def _ask(self, removals: Sequence[frozenset[int]]) -> _Reading:
        """Has some removals read, those first that leave the longest start of the context as it is."""
        wanted = {self.units.leaves(units) for units in removals} - self._read.keys()
        if not wanted:
            return
        variants = sorted(wanted, key=lambda variant: (-min(variant, default=0), sorted(variant)))
        variants = variants[: self._most - self.passes]
        if not variants:
            raise _MostRead
        self._read.update(zip(variants, (yield variants), strict=True))

    def _drops(self, units: frozenset[int], share: float = LARGEST_SHARE_LEFT) -> bool:
        """Whether the decision is much less likely without some units."""
        base, chance = self.base or 0.0, self.chance(units)
        return bool(units) and base - chance >= NOISE and chance <= share * base
