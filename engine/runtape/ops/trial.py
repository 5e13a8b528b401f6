"""Which reruns measure a set of candidate fixes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TypeAlias

from ..context.edits import Edit
from ..search.ledger import BASE
from ..search.protocol import Search, Want
from ..stats.exact import fisher_less
from ..stats.keeping import KeepTest
from ..stats.tally import Tally
from .guard import Guard
from .verdicts import ALPHA, ENOUGH, GONE, LOOKS, ControlPair, Judgement, judge, judge_guard, still_needed

FIX = "fix"
"""Series of the samples of changed contexts. The search for the cause never draws from it, so these are fresh."""

ALLOWANCE = 20
"""Reruns for each candidate, over all of them, up to which further ones are confirmed once one has passed."""
MOST_KEPT = 88
"""Most reruns of the controls with one candidate; where they do not settle it, it is left open."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One recorded decision, rerun with one change."""

    case: int
    """0 for the bad decision, 1 and up for the controls."""
    edits: frozenset[Edit] = frozenset()
    guard: Guard | None = None
    """A check on the replies. It sends nothing, so its arm shares the samples of the arm without it."""


Sized: TypeAlias = tuple[Arm, int]
"""An arm and how many of its reruns were asked for."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One candidate with its evidence so far."""

    fixed: Tally
    controls: tuple[ControlPair, ...]
    judgement: Judgement


class Trial:
    """The reruns that measure candidate fixes as a race, and what they have shown so far.

    First a few reruns of every candidate, the bad decision as recorded, and the controls as recorded. Candidates with
    which the decision is still made are out. The others are confirmed one after another: `GONE` reruns of the bad
    decision, then the controls until they show a loss or none. Once one has passed, another is confirmed only while all
    candidates together keep to `ALLOWANCE` reruns each. `measured` is valid at any moment.
    """

    def __init__(
        self,
        arms: Mapping[str, Sequence[Arm]],
        controls: Sequence[str],
        *,
        runs: int,
        control_runs: int,
        order: Sequence[str] = (),
    ) -> None:
        """Plan the reruns.

        Args:
            arms: For each candidate, by name: its arm on the bad decision, then one for each control.
            controls: What each control is called.
            runs: Reruns of the bad decision as recorded; a first look at a candidate takes half as many.
            control_runs: Reruns of each control as recorded.
            order: The names in the order in which they are confirmed; that of `arms` when empty.
        """
        self._arms = arms
        self._controls = controls
        self._runs = runs
        self._control_runs = control_runs
        self._waiting = [name for name in order or arms if not arms[name][0].guard]
        self._seen: dict[Arm, Sized] = {}
        self._answers: dict[Sized, Tally] = {}
        self._asked: dict[Arm, int] = {}
        self._own = len(self._waiting)
        """Candidates that have reruns of their own."""
        self._over = False

    @property
    def planned(self) -> int:
        """Samples that the whole trial asks for, as far as known now."""
        to_come = 0
        if not self._asked:
            to_come = sum(want.n for want in self._first())
        if not self._over and not self._passed() and (not self._asked or self._next() is not None):
            to_come += self._price()
        return sum(self._asked.values()) + to_come

    @property
    def planned_base(self) -> int:
        """Those of them that are of the bad decision as recorded."""
        return self._asked.get(Arm(0), self._runs)

    def run(self) -> Search[Arm, None]:
        """Ask for the reruns, round by round."""
        yield from self._ask(self._first())
        # Guards come second because their samples are those of the first round: nothing new is sent for them.
        guarded = [arm for arms in self._arms.values() if arms[0].guard for arm in arms if self._usable(arm.case)]
        yield from self._ask([Want(arm, self._control_runs if arm.case else self._runs, BASE) for arm in guarded])
        while name := self._next():
            yield from self._confirm(name)
            self._waiting.remove(name)
        self._over = True

    def take(self, answered: Mapping[Sized, Tally]) -> None:
        """Take in the answers to a batch that was not answered in full, by arm and number of reruns asked for."""
        for (arm, n), tally in answered.items():
            if n >= self._seen.get(arm, (arm, 0))[1]:
                self._seen[arm], self._answers[arm, n] = (arm, n), tally

    @property
    def base(self) -> Tally:
        """The bad decision as recorded."""
        return self._tally(Arm(0))

    def measured(self, name: str) -> Measured:
        """What is known about one candidate."""
        bad, *controls = self._arms[name]
        pairs = tuple(
            ControlPair(control, self._tally(Arm(arm.case)), self._tally(arm), touched=bool(arm.edits))
            for control, arm in zip(self._controls, controls, strict=True)
            if self._usable(arm.case)
        )
        fixed = self._tally(bad)
        if bad.guard:
            base = self._answers.get((Arm(0), self._runs), Tally())
            return Measured(fixed, pairs, judge_guard(base, fixed, pairs))
        return Measured(fixed, pairs, judge(self.base, fixed, pairs, self._own))

    def unusable(self) -> list[str]:
        """Controls that do not make their recorded decision again even without a change."""
        return [name for case, name in enumerate(self._controls, 1) if not self._usable(case)]

    def unconfirmed(self) -> list[str]:
        """Candidates that held at the first look and were not rerun often enough to pass."""
        return [name for name in self._waiting if self._is_open(name)]

    def _first(self) -> list[Want[Arm]]:
        look = (self._runs + 1) // 2
        controls = [Want(Arm(case), self._control_runs, BASE) for case in range(1, len(self._controls) + 1)]
        changed = (Want(bad, look, FIX) for bad, *_ in self._arms.values() if not bad.guard)
        return [Want(Arm(0), self._runs, BASE), *changed, *controls]

    def _confirm(self, name: str) -> Search[Arm, None]:
        bad, *controls = self._arms[name]
        wants = [Want(bad, max(GONE, self._runs), FIX)]
        if fisher_less(0, GONE, self.base.kept, self.base.n) > ALPHA / (self._own * LOOKS):
            wants.append(Want(Arm(0), 2 * self._runs, BASE))
        yield from self._ask(wants)
        touched = [arm for arm in controls if arm.edits and self._usable(arm.case)]
        if not touched:
            return
        each = ENOUGH  # a change that breaks much shows it here
        while self._is_open(name) and (each == ENOUGH or each * len(touched) <= MOST_KEPT):
            yield from self._ask([Want(arm, each, FIX) for arm in touched])
            missing = ceil(still_needed(self.measured(name).controls) / len(touched))
            each += min(ENOUGH, max(1, missing))

    def _ask(self, wants: Sequence[Want[Arm]]) -> Search[Arm, None]:
        if not wants:
            return
        for want in wants:
            if not want.variant.guard:
                self._asked[want.variant] = max(want.n, self._asked.get(want.variant, 0))
        tallies = yield wants
        self.take({(want.variant, want.n): tally for want, tally in zip(wants, tallies, strict=True)})

    def _next(self) -> str | None:
        """The candidate to confirm now."""
        spent = sum(n for arm, n in self._asked.items() if arm.edits)
        if self._passed() and spent + self._price() > ALLOWANCE * self._own:
            return None
        return next(iter(self.unconfirmed()), None)

    def _price(self) -> int:
        """Reruns that confirm one candidate which breaks nothing."""
        again = max(GONE, self._runs) - (self._runs + 1) // 2
        return again + (KeepTest().needed(0, 0) if self._controls else 0)

    def _passed(self) -> bool:
        return any(not arms[0].guard and self._verdict(name) == "PASS" for name, arms in self._arms.items())

    def _verdict(self, name: str) -> str:
        return self.measured(name).judgement.verdict

    def _is_open(self, name: str) -> bool:
        return self.measured(name).judgement.open

    def _usable(self, case: int) -> bool:
        tally = self._tally(Arm(case)) if case else Tally()
        return tally.kept * 2 > tally.n if tally.n else tally.broken is None

    def _tally(self, arm: Arm) -> Tally:
        """The largest tally of this arm; an arm without a change is the decision as recorded."""
        return self._answers.get(self._seen.get(arm, (arm, 0)), Tally())
