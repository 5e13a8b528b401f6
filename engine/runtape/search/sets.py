"""Finds a set of units that matter only together: copies that are each enough, thresholds, masked and weak causes."""

from __future__ import annotations

from collections.abc import Sequence

from .batch import Batch
from .confirm import settle_open
from .first_flip import first_flip
from .ledger import Ledger, Variant
from .protocol import Search

SET = "set"
"""Series of the reruns of a candidate set before it gets a slot."""
STEPS = 8
LARGEST_SET = 6
TRUSTED = 0.4
"""Chance below which the end of a bisection is not taken for an answer."""
NEVER_AGAIN = 0.05
"""Chance that nothing flips any more once some prefix did."""


def find_set(ledger: Ledger, order: Sequence[int], never: float) -> Search[Variant, None]:
    """Collects members until removing them alone flips, and puts that set to the test.

    The last unit of the shortest flipping prefix is a member. With it removed for good, the search repeats on the units
    before it. A step that leads nowhere is taken back.

    Args:
        ledger: The state of the search.
        order: Units to look among, most suspicious first.
        never: Chance beforehand that removing all of them does not flip, 0-1.
    """
    members: list[int] = []
    stack = [list(order)]
    for _ in range(STEPS):
        if len(members) == LARGEST_SET:
            return
        flip = yield from first_flip(ledger, stack[-1], members, NEVER_AGAIN if members else never)
        if not flip.end or flip.chance < TRUSTED:
            if not members:
                return
            members.pop()
            stack.pop()
            continue
        members.append(stack[-1][flip.end - 1])
        if (yield from _flips_alone(ledger, members)):
            if ledger.open_slot(members):
                yield from settle_open(ledger)
            return
        if flip.end == 1:
            members.pop()
            if not members:
                return
            members.pop()
            stack.pop()
        else:
            stack.append(stack[-1][: flip.end - 1])


def try_sets(ledger: Ledger) -> Search[Variant, None]:
    """Puts the sets to the test that were suspected beforehand."""
    for leaves in ledger.problem.together:
        ledger.open_slot(ledger.units.within(leaves), leaves)
    yield from settle_open(ledger)


def _flips_alone(ledger: Ledger, members: Sequence[int]) -> Search[Variant, bool]:
    """Whether removing just these units flips the decision, by a few reruns."""
    variant = ledger.units.leaves(members)
    many = 6 if ledger.intermittent else 2
    kept = yield from _repeats(ledger, variant, many)
    if kept == 0 or (ledger.intermittent and kept == 1):
        return True
    if kept == 1:
        return (yield from _repeats(ledger, variant, 3)) <= 1
    return False


def _repeats(ledger: Ledger, variant: Variant, n: int) -> Search[Variant, int]:
    """Repeats among `n` further samples; a sample that does not count is taken for a repeat."""
    before = ledger.tally(variant, SET)
    batch = Batch(ledger)
    batch.more(variant, n, SET)
    if batch:
        yield from batch.ask()
    return n - (ledger.tally(variant, SET).flips - before.flips)
