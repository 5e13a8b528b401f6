"""One claim under test: "without these leaves the rate is lower"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from types import MappingProxyType
from typing import Literal

from ..stats.exact import fisher_less
from ..stats.slots import ALPHAS, CUTOFFS, LOOKS, Look

SlotState = Literal["open", "proven", "given up", "void", "outdated"]
"""given up: the reruns speak against it. void: its variant cannot be sampled. outdated: the model changed meanwhile."""

LARGEST_SHARE_LEFT = 0.5
"""A cause leaves at most this share of the base rate behind; less of a drop is not claimed however significant."""
LARGEST_SHARE_LEFT_BY_SET = 1 / 3
"""Sets are found by a search that looks for drops, so a weak one is likelier to be a collection of small effects."""
FREQUENT = 0.6
"""From this base rate on a decision counts as frequent, below it as intermittent."""

HOPELESS: Mapping[int, float] = MappingProxyType({3: inf, 5: 0.95, 8: 0.9, 12: 0.85, 20: 0.7, 40: 0.0})
"""Share of the base rate above which a slot is given up, by fresh reruns. Late looks are dear, so they are taken only
while the claim is still likely; strict shares lose causes that leave a third of the rate."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Reruns of a slot and of the base as far as one look may use them."""

    base_kept: int
    kept: int
    """Both for the look's own sample sizes: samples that did not count are taken as speaking against the claim."""
    seen_kept: int
    seen: int
    """Reruns of the slot that did count, as they are."""


@dataclass(frozen=True, slots=True)
class PutBack:
    """Reruns with one member of a removed set back in its place."""

    without: frozenset[int]
    """What stayed removed."""
    series: str


@dataclass(slots=True)
class Slot:
    """A claim, the looks taken at it, and what came of it."""

    number: int
    """Position among all slots of the search; fixes the alpha and names the series of fresh reruns."""
    units: frozenset[int]
    leaves: frozenset[int]
    base_series: str = "base"
    """The series that its reruns are compared with."""
    opened: int = 0
    """Rounds of the search before it."""
    look: int = 0
    """Looks taken so far."""
    state: SlotState = "open"
    p: float = 1.0
    """p of the look that proved it."""
    replaced: bool = False
    """A smaller set inside it was proven on its own, so this one is not reported."""
    put_back: dict[int, PutBack] = field(default_factory=dict[int, PutBack])
    """For a set: leaves that were put back alone, with the reruns of that."""
    enough: set[int] = field(default_factory=set[int])
    """Leaves proven to bring the decision back on their own."""

    @property
    def series(self) -> str:
        """The series of this slot's fresh reruns; nothing else ever draws from it."""
        return f"confirm:{self.number}"

    @property
    def sizes(self) -> Look:
        """Sample sizes of the next look."""
        return LOOKS[self.look]

    def judge(self, counts: Counts, base_rate: float) -> None:
        """Takes the next look: proves the claim, gives it up, or leaves it open for the look after.

        A claim needs both a small enough p and a large enough effect. Giving up only removes chances to claim, so its
        rules are free of the error bound; they save samples.
        """
        sizes = self.sizes
        significant = CUTOFFS[ALPHAS[self.number]].claim(self.look, sizes, counts.kept, counts.base_kept)
        p = fisher_less(counts.kept, sizes.fresh, counts.base_kept, sizes.base)
        share = LARGEST_SHARE_LEFT if len(self.units) <= 1 else LARGEST_SHARE_LEFT_BY_SET
        small = counts.kept / sizes.fresh <= share * counts.base_kept / sizes.base
        hopeless = counts.seen_kept > HOPELESS[sizes.fresh] * base_rate * counts.seen
        self.look += 1
        if significant and small:
            self.state, self.p = "proven", p
        elif not counts.seen:
            self.state = "void"
        elif hopeless or self.look == len(LOOKS):
            self.state = "given up"
