"""Every variant's tallies, and the slots: the whole state of a search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from ..stats.slots import ALPHAS
from ..stats.tally import Provenance, Tally
from .finding import Status
from .prior import prior
from .problem import Problem
from .protocol import POOL, Want
from .settings import Settings
from .slot import FREQUENT, Slot
from .units import Units, largest_pool, unite

Variant: TypeAlias = frozenset[int]
"""The leaves that are removed."""

Ending: TypeAlias = Literal["done", "budget", "void answers", "drift"]

BASE = "base"
"""Series of the reruns of the context as recorded; they serve every claim."""
RECORDED: Variant = frozenset()
EMPTY = Tally()


@dataclass(slots=True)
class Record:
    """What one series of one variant has shown: a tally for each sample size that was asked for."""

    asked: int = 0
    """Most samples asked for."""
    tallies: list[Tally] = field(default_factory=list[Tally])
    """In the order of asking; each holds the ones before."""

    @property
    def last(self) -> Tally:
        """The largest tally."""
        return self.tallies[-1] if self.tallies else EMPTY

    def most_kept(self, n: int) -> int:
        """Upper bound of the repeats among the first `n` samples; exact when they all counted."""
        return min((min(n, seen.kept + max(0, n - seen.n)) for seen in self.tallies), default=n)

    def least_kept(self, n: int) -> int:
        """Lower bound of the repeats among the first `n` samples; exact when they all counted."""
        return max((max(0, seen.kept - max(0, seen.n - n)) for seen in self.tallies), default=0)


@dataclass(slots=True)
class Ledger:
    """What a search knows. Passes read it, ask for samples and open slots; nothing else holds state.

    Equal problems, settings and tallies give an equal ledger: the only randomness is `rng`, seeded by the problem.
    """

    problem: Problem
    settings: Settings
    units: Units = field(init=False)
    prior: tuple[float, ...] = field(init=False)
    rng: np.random.Generator = field(init=False)
    hold: frozenset[int] = field(init=False)
    """Units that stay in place for now."""
    records: dict[tuple[Variant, str], Record] = field(default_factory=dict[tuple[Variant, str], Record])
    slots: list[Slot] = field(default_factory=list[Slot])
    members_tested: int = 0
    cap: int = field(init=False)
    """Most leaves that a pool may remove at present."""
    spent: int = 0
    """Samples asked for."""
    rounds: int = 0
    answer: Status | None = None
    """Set by the pass that ended the search early with an answer of its own."""
    ended: Ending | None = None
    """Why the search ended; None while it runs."""
    checks: int = 0
    """Times that the base was checked for a change of the model."""
    restarts: int = 0
    """Times that it was begun anew because of one."""
    vouched: list[Provenance] = field(default_factory=list[Provenance])
    """Where and when a check found the base as it was."""
    kept_in: int = 0
    """The last round in which some context still led to the decision."""
    fruitless: int = 0
    """Rounds in a row without any sample that counts."""

    def __post_init__(self) -> None:
        self.units = unite(self.problem)
        self.prior = prior(self.units)
        self.rng = np.random.default_rng(self.problem.seed)
        self.cap = largest_pool(self.problem)
        # A named suspect is looked at wherever it stands; holding everything would leave nothing to look at.
        held = self.units.pinned - self.units.suspects
        self.hold = held if len(held) < len(self.units) else frozenset()

    def record(self, variant: Variant, series: str) -> Record:
        """The record of one series, empty when nothing was asked."""
        return self.records.get((variant, series), Record())

    def tally(self, variant: Variant, series: str) -> Tally:
        """The largest tally of one series, empty when nothing was asked."""
        return self.record(variant, series).last

    @property
    def left(self) -> int:
        """Samples that the budget still allows."""
        return self.settings.budget - self.spent

    @property
    def base(self) -> Tally:
        """The context as recorded."""
        return self.tally(RECORDED, self.base_series)

    @property
    def base_series(self) -> str:
        """The series of the present base."""
        return f"{BASE}:{self.restarts}" if self.restarts else BASE

    @property
    def base_rate(self) -> float:
        """Rate of the decision as recorded, smoothed so that it is neither 0 nor 1."""
        return (self.base.kept + 0.5) / (self.base.n + 1)

    @property
    def intermittent(self) -> bool:
        """Whether the decision is so rare that samples carry little and more are needed everywhere."""
        return self.base_rate < FREQUENT

    @property
    def eager(self) -> bool:
        """Whether a wait, or another context, is dearer than samples that may turn out not to be needed."""
        return self.settings.profile != "calls" and not self.intermittent

    @property
    def pools_a_round(self) -> int:
        """Pools per round; twice as many when a sample carries little, so that rounds do not multiply."""
        return self.settings.pooling.later * (2 if self.intermittent else 1)

    @property
    def open(self) -> list[Slot]:
        """Slots under test."""
        return [slot for slot in self.slots if slot.state == "open"]

    @property
    def unrefuted(self) -> list[Slot]:
        """Slots under test whose fresh reruns have not repeated the decision so far."""
        return [slot for slot in self.open if not self.fresh(slot).kept]

    @property
    def proven(self) -> list[Slot]:
        """Slots whose claim holds."""
        return [slot for slot in self.slots if slot.state == "proven" and not slot.replaced]

    @property
    def proven_units(self) -> frozenset[int]:
        """Units of all proven claims."""
        return frozenset[int]().union(*(slot.units for slot in self.proven))

    @property
    def nominated(self) -> frozenset[int]:
        """Units that have or had a slot of their own."""
        singles = (slot for slot in self.slots if len(slot.units) == 1 and slot.state != "outdated")
        return frozenset(unit for slot in singles for unit in slot.units)

    def base_of(self, slot: Slot) -> Tally:
        """The context as recorded, as far as a slot is compared with it."""
        return self.tally(RECORDED, slot.base_series)

    def restart(self) -> None:
        """Begins a new base; what is under test goes back to being suspected."""
        self.restarts += 1
        self.vouched.clear()
        for slot in self.open:
            slot.state = "outdated"

    def fresh(self, slot: Slot) -> Tally:
        """The fresh reruns of a slot."""
        return self.tally(slot.leaves, slot.series)

    def open_slot(self, units: Iterable[int], leaves: Variant | None = None) -> Slot | None:
        """Puts "without these units the rate is lower" to the test; None when all slots are used.

        Args:
            units: The units that the claim is about; none when it is about the order of the tools.
            leaves: The leaves to remove when they are fewer than those of the units.
        """
        if len(self.slots) == len(ALPHAS):
            return None
        chosen = frozenset(units)
        removed = self.units.leaves(chosen) if leaves is None else leaves
        slot = Slot(len(self.slots), chosen, removed, self.base_series, self.rounds)
        self.slots.append(slot)
        return slot

    def nominating(self) -> Iterator[tuple[Variant, Tally]]:
        """Samples that say which units are needed: pools, and the reruns of slots with one unit."""
        whole = {slot.series for slot in self.slots if slot.leaves in self._whole_units(slot)}
        for (variant, series), record in self.records.items():
            if series == POOL or series in whole:
                yield variant, record.last

    def pooled(self) -> Iterator[tuple[Variant, Tally]]:
        """The samples of pools, in the order of asking."""
        return ((variant, record.last) for (variant, series), record in self.records.items() if series == POOL)

    def _whole_units(self, slot: Slot) -> tuple[Variant, ...]:
        """What a slot must remove for its reruns to speak about one unit."""
        return tuple(self.units.members[unit] for unit in slot.units) if len(slot.units) == 1 else ()

    def enter(self, wants: Sequence[Want[Variant]], tallies: Sequence[Tally]) -> None:
        """Adds the answers to one batch.

        Raises:
            ValueError: there is not one tally per want.
        """
        self.rounds += 1
        self.fruitless += 1
        for want, tally in zip(wants, tallies, strict=True):
            record = self.records.setdefault((want.variant, want.series), Record())
            if tally.n > record.last.n:
                self.fruitless = 0
            if tally.kept > record.last.kept:
                self.kept_in = self.rounds
            self.spent += max(0, want.n - record.asked)
            record.asked = max(record.asked, want.n)
            record.tallies.append(tally)
