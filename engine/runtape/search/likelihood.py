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

MOST = 30
"""Contexts read at most: about as many as a search by samples sends."""
NOISE = 0.1
"""Least drop that is believed. A server that keeps the start of a context computes the rest differently: the same
request was seen to give 0.40, 0.43 and 0.47."""
TOGETHER = 8
"""So many of the most suspicious units are removed together first: that shows single causes and copies that are each
enough."""
ALONE = 5
"""So many of them are then read alone."""
POOLS, POOLS_OF_PINNED = 6, 3
DEEPEST = 2
"""Pools that are searched further, those with the largest drops."""
LARGEST_SET = 6


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

    Reads the base, then the most suspicious units together; when that lowers the chance, each of them alone; when
    nothing shows, pools of what the agent read, then pools of the pinned units. A pool that lowers the chance is
    searched for the fewest units that do. Stops when something is found or `most` contexts are read. Equal problems and
    readings give equal guesses.

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
        self._cap = largest_pool(problem)
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
        first = free[: max(1, min(TOGETHER, self._cap))]
        yield from self._ask([frozenset(first)])
        if self._drops(frozenset(first)):
            singles = [frozenset({unit}) for unit in first[:ALONE]]
            yield from self._ask(singles)
            found += [single for single in singles if self._drops(single)]
            if not found:
                yield from self._narrow(first, found)
        for among, count in ((free, POOLS), ([unit for unit in order if unit not in free], POOLS_OF_PINNED)):
            if not found:
                yield from self._pools(sorted(among), count, found)

    def _pools(self, among: Sequence[int], count: int, found: list[frozenset[int]]) -> _Reading:
        pools = partition(self.units, among, prior(self.units), count=count, cap=self._cap)
        yield from self._ask([frozenset(pool) for pool in pools])
        low = [pool for pool in pools if self._drops(frozenset(pool))]
        low.sort(key=lambda pool: self.chance(frozenset(pool)))
        for pool in low[:DEEPEST]:
            yield from self._narrow(pool, found)

    def _narrow(self, pool: Sequence[int], found: list[frozenset[int]]) -> _Reading:
        """Finds the fewest units of a pool without which the chance is low.

        The last unit of the shortest prefix that lowers it is a member; with that one gone, the next member is the last
        of the shortest prefix before it; until the members alone lower it.
        """
        members, rest = frozenset[int](), list(pool)
        while rest and len(members) < LARGEST_SET:
            low, high = 0, len(rest)
            while high - low > 1:
                middle = (low + high) // 2
                tried = members.union(rest[:middle])
                yield from self._ask([tried])
                low, high = (low, middle) if self._drops(tried) else (middle, high)
            members |= {rest[high - 1]}
            rest = rest[: high - 1]
            yield from self._ask([members])
            if self._drops(members):
                yield from self._strip(members, found)
                return

    def _strip(self, members: frozenset[int], found: list[frozenset[int]]) -> _Reading:
        """Puts members back one at a time until none can go: a removal may show that an earlier one is idle."""
        before = frozenset[int]()
        while members != before:
            before = members
            for unit in sorted(before, reverse=True):
                if len(members) > 1:
                    yield from self._ask([members - {unit}])
                    members = members - {unit} if self._drops(members - {unit}) else members
        if self._drops(members, LARGEST_SHARE_LEFT if len(members) == 1 else LARGEST_SHARE_LEFT_BY_SET):
            found.append(members)

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
