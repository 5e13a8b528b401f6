"""Leaves that are removed together, as one unit of the search."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .problem import Problem

LARGEST_SHARE = 0.25
"""Largest share of the leaves that a pool removes. Removing more tends to break the conversation by itself, which looks
like a cause everywhere."""

LARGEST_LOOSE_SHARE = 0.5
"""Largest share of the leaves that are not pinned: where tool definitions are most of a context, a quarter of it would
be all that the agent read."""


@dataclass(frozen=True, slots=True)
class Units:
    """The units of a context, numbered in context order; every leaf is in exactly one."""

    members: tuple[frozenset[int], ...]
    of: tuple[int, ...]
    """The unit of each leaf."""
    pinned: frozenset[int]
    suspects: frozenset[int]
    scores: tuple[float, ...]
    """Score of the most suspicious member."""
    messages: tuple[int, ...]
    """Message of the first member."""

    def __len__(self) -> int:
        return len(self.members)

    def leaves(self, units: Iterable[int]) -> frozenset[int]:
        """The leaves of some units: the variant that removes them."""
        return frozenset[int]().union(*(self.members[unit] for unit in units))

    def within(self, leaves: Iterable[int]) -> tuple[int, ...]:
        """The units that some leaves touch, ascending."""
        return tuple(sorted({self.of[leaf] for leaf in leaves}))


def largest_pool(problem: Problem) -> int:
    """Most leaves that one pool may remove, at least 1."""
    loose = problem.leaves - len(problem.pinned)
    most = LARGEST_SHARE * problem.leaves
    return max(1, int(min(most, LARGEST_LOOSE_SHARE * loose) if loose else most))


def unite(problem: Problem) -> Units:
    """The units of a problem: its near-duplicate groups, and every other leaf alone.

    A group is divided where it joins pinned leaves with others, and dissolved where a part is larger than a pool may
    be.
    """
    home = {leaf: leaf for leaf in range(problem.leaves)}
    for group in problem.groups:
        for part in (group & problem.pinned, group - problem.pinned):
            if 1 < len(part) <= largest_pool(problem):
                home.update(dict.fromkeys(part, min(part)))
    heads = sorted(set(home.values()))
    number = {head: unit for unit, head in enumerate(heads)}
    of = tuple(number[home[leaf]] for leaf in range(problem.leaves))
    members: list[list[int]] = [[] for _ in heads]
    for leaf, unit in enumerate(of):
        members[unit].append(leaf)
    return Units(
        members=tuple(map(frozenset, members)),
        of=of,
        pinned=frozenset(of[leaf] for leaf in problem.pinned),
        suspects=frozenset(of[leaf] for leaf in problem.suspects),
        scores=tuple(max(problem.scores[leaf] for leaf in unit) for unit in members),
        messages=tuple(problem.message_of[head] for head in heads),
    )
