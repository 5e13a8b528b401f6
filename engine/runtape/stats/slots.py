"""Cut-offs of the tests that are looked at several times, with their exact size.

A slot is one claim "without S the rate is lower". It compares the first `base` reruns of the context as recorded with
the first `fresh` reruns without S at a fixed schedule of looks, and may claim at any of them when Fisher's one-sided p
is at most that look's cut-off. The cut-offs of a schedule were scaled together until the exact chance of claiming at
some look, at the worst common rate, stays within the slot's alpha. Ten slots and five member slots exist for one
search; their sizes sum to less than 0.05, which bounds the chance of any false claim whatever the search does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from types import MappingProxyType

from .exact import fisher_less


@dataclass(frozen=True, slots=True)
class Look:
    """Sample sizes at which a slot may be judged."""

    base: int
    """Reruns of the control: the context as recorded, or for a member the context without the whole set."""
    fresh: int
    """Reruns of what is tested, drawn after it was chosen."""


RARELY = 0.3
"""Share of a look's control up to which a decision counts as rare in choosing the cut-off."""


@dataclass(frozen=True, slots=True)
class Cutoffs:
    """Largest p that claims, one per look."""

    usual: tuple[float, ...]
    rare: tuple[float, ...] = ()
    """Largest p that claims when no more than `RARELY` of the control is counted; empty when nothing does.

    Fisher's test is at its most cautious there: with the usual cut-offs a slot claims falsely half as often as it may,
    and misses every third decision that is made in one of five reruns.
    """

    def claim(self, place: int, look: Look, kept: int, base_kept: int) -> bool:
        """Whether these counts claim at a look. More claims with fewer `kept` and with more `base_kept`, always."""
        if fisher_less(kept, look.fresh, base_kept, look.base) <= self.usual[place]:
            return True
        few = min(base_kept, int(RARELY * look.base))
        return bool(self.rare) and fisher_less(kept, look.fresh, few, look.base) <= self.rare[place]


LOOKS = (Look(10, 3), Look(10, 5), Look(10, 8), Look(20, 12), Look(30, 20), Look(60, 40))
CUTOFFS: Mapping[float, Cutoffs] = MappingProxyType(
    {
        0.005: Cutoffs(
            (0.00730, 0.00487, 0.00243, 0.00292, 0.00316, 0.00365),
            (0.0, 0.0, 0.0, 0.0, 0.00400, 0.01000),
        ),
        0.003: Cutoffs(
            (0.00392, 0.00261, 0.00131, 0.00157, 0.00170, 0.00196),
            (0.0, 0.0, 0.0, 0.0, 0.00300, 0.00600),
        ),
    }
)
"""By alpha."""
ALPHAS = (0.005,) * 4 + (0.003,) * 6
"""Alpha of each slot, in the order in which a search fills them."""

MEMBER_LOOKS = (Look(6, 4), Look(10, 6), Look(10, 10), Look(20, 16))
MEMBER_CUTOFFS = (0.00477, 0.00211, 0.00105, 0.00200)
MEMBER_SLOTS = 5
"""Tests of "putting this member of the set back brings the decision back" that one search may open."""

FALSE_CLAIM = 0.0484
"""Bound on the chance that one search makes any false claim: the sizes of all its slots, summed and rounded up."""

GRID = tuple(step / 400 for step in range(1, 400))
"""Common rates at which `size` is evaluated."""


def size(cutoffs: Cutoffs | Sequence[float], looks: Sequence[Look]) -> float:
    """Largest chance, over the common rate of both groups, that some look claims.

    Exact up to the grid of rates: the sequences of outcomes that first claim at each look are counted as integers, so
    the chance is a polynomial in the rate.

    Raises:
        ValueError: there is not one cut-off per look.
    """
    table = cutoffs if isinstance(cutoffs, Cutoffs) else Cutoffs(tuple(cutoffs))
    for kind in (table.usual, table.rare):
        if kind and len(kind) != len(looks):
            msg = f"{len(kind)} cut-offs for {len(looks)} looks"
            raise ValueError(msg)
    claiming = [
        (trials, repeats, count)
        for trials, counts in _first_claims(table, looks)
        for repeats, count in enumerate(counts)
        if count
    ]
    return max(sum(count * p**k * (1 - p) ** (trials - k) for trials, k, count in claiming) for p in GRID)


def _first_claims(cutoffs: Cutoffs, looks: Sequence[Look]) -> list[tuple[int, list[int]]]:
    """Per look: samples drawn in all, and how many outcome sequences claim there first, by number of repeats."""
    alive: Counter[tuple[int, int]] = Counter({(0, 0): 1})
    seen = Look(0, 0)
    found: list[tuple[int, list[int]]] = []
    for place, look in enumerate(looks):
        more_base, more_fresh = look.base - seen.base, look.fresh - seen.fresh
        reached = Counter[tuple[int, int]]()
        for (base_kept, kept), ways in alive.items():
            for extra in range(more_base + 1):
                reached[base_kept + extra, kept] += ways * comb(more_base, extra)
        alive = Counter[tuple[int, int]]()
        for (base_kept, kept), ways in reached.items():
            for extra in range(more_fresh + 1):
                alive[base_kept, kept + extra] += ways * comb(more_fresh, extra)
        trials = look.base + look.fresh
        counts = [0] * (trials + 1)
        for base_kept, kept in list(alive):
            if cutoffs.claim(place, look, kept, base_kept):
                counts[base_kept + kept] += alive.pop((base_kept, kept))
        found.append((trials, counts))
        seen = look
    return found
