"""Which reruns measure a set of candidate fixes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..context.edits import Edit
from ..search.ledger import BASE
from ..search.protocol import Search, Want
from ..stats.tally import Tally
from .guard import Guard
from .verdicts import ControlPair, Judgement, judge, judge_guard

FIX = "fix"
"""Series of the samples of changed contexts. The search for the cause never draws from it, so these are fresh."""


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
    """The reruns that measure candidate fixes, and what they have shown so far.

    First the bad decision as recorded and with each change, and the controls as recorded. Where the rate dropped but so
    few reruns do not show it, twice as many of both. Then the controls with each change that has not failed already.
    `measured` is valid at any moment.
    """

    def __init__(
        self, arms: Mapping[str, Sequence[Arm]], controls: Sequence[str], *, runs: int, control_runs: int
    ) -> None:
        """Plan the reruns.

        Args:
            arms: For each candidate, by name: its arm on the bad decision, then one for each control.
            controls: What each control is called.
            runs: Reruns of the bad decision for each candidate.
            control_runs: Reruns of each control.
        """
        self._arms = arms
        self._controls = controls
        self._runs = runs
        self._control_runs = control_runs
        self._seen: dict[Sized, Tally] = {}
        self._asked: dict[tuple[int, frozenset[Edit]], int] = {}
        self._own = sum(not bad.guard for bad, *_ in arms.values())
        """Candidates that have reruns of their own."""

    @property
    def planned(self) -> int:
        """Samples that the whole trial asks for, as far as known now."""
        return sum(self._expected().values())

    @property
    def planned_base(self) -> int:
        """Those of them that are of the bad decision as recorded."""
        return self._expected()[0, frozenset()]

    def run(self) -> Search[Arm, None]:
        """Ask for the reruns, round by round."""
        for batch in (self._first, self._again, self._second):
            wants = batch()
            if wants:
                self._asked = self._with(wants)
                tallies = yield wants
                self._seen.update(((want.variant, want.n), tally) for want, tally in zip(wants, tallies, strict=True))

    def take(self, answered: Mapping[Sized, Tally]) -> None:
        """Take in the answers to a batch that was not answered in full, by arm and number of reruns asked for."""
        self._seen.update(answered)

    @property
    def base(self) -> Tally:
        """The bad decision as recorded."""
        return self._seen.get((Arm(0), 2 * self._runs)) or self._tally(Arm(0))

    def measured(self, name: str) -> Measured:
        """What is known about one candidate."""
        bad, *controls = self._arms[name]
        pairs = tuple(
            ControlPair(control, self._tally(Arm(arm.case)), self._tally(arm))
            for control, arm in zip(self._controls, controls, strict=True)
            if self._usable(arm.case)
        )
        if bad.guard:
            fixed = self._tally(bad)
            return Measured(fixed, pairs, judge_guard(self._tally(Arm(0)), fixed, pairs))
        # Both tallies are of the same look: a comparison at sizes that were not planned would be a look of its own.
        base, fixed = self._look(bad, 2 * self._runs) or (self._tally(Arm(0)), self._tally(bad))
        return Measured(fixed, pairs, judge(base, fixed, pairs, self._own))

    def unusable(self) -> list[str]:
        """Controls that do not make their recorded decision again even without a change."""
        return [name for case, name in enumerate(self._controls, 1) if not self._usable(case)]

    def _first(self) -> list[Want[Arm]]:
        controls = [Want(Arm(case), self._control_runs, BASE) for case in range(1, len(self._controls) + 1)]
        changed = (Want(bad, self._runs, FIX) for bad, *_ in self._arms.values() if not bad.guard)
        return [Want(Arm(0), self._runs, BASE), *changed, *controls]

    def _again(self) -> list[Want[Arm]]:
        bad = [bad for name, (bad, *_) in self._arms.items() if self.measured(name).judgement.open]
        return [Want(Arm(0), 2 * self._runs, BASE), *(Want(arm, 2 * self._runs, FIX) for arm in bad)] if bad else []

    def _second(self) -> list[Want[Arm]]:
        # Guards come second because their samples are those of the first round: nothing new is sent for them.
        guarded = [Want(bad, self._runs, BASE) for bad, *_ in self._arms.values() if bad.guard]
        wanted = dict.fromkeys(
            arm
            for name, (bad, *controls) in self._arms.items()
            if bad.guard or self.measured(name).judgement.verdict != "FAIL"
            for arm in controls
            if self._usable(arm.case) and (arm, self._control_runs) not in self._seen
        )
        return [*guarded, *(Want(arm, self._control_runs, FIX if arm.edits else BASE) for arm in wanted)]

    def _usable(self, case: int) -> bool:
        tally = self._tally(Arm(case))
        return tally.kept * 2 > tally.n if tally.n else tally.broken is None

    def _look(self, bad: Arm, n: int) -> tuple[Tally, Tally] | None:
        base, fixed = self._seen.get((Arm(0), n)), self._seen.get((bad, n))
        return None if base is None or fixed is None else (base, fixed)

    def _expected(self) -> dict[tuple[int, frozenset[Edit]], int]:
        return self._with([*self._first(), *self._again(), *self._second()])

    def _with(self, wants: Iterable[Want[Arm]]) -> dict[tuple[int, frozenset[Edit]], int]:
        """How many samples of each request were asked for, with these wants; a guard has those without it."""
        asked = dict(self._asked)
        for want in wants:
            key = (want.variant.case, want.variant.edits)
            asked[key] = max(want.n, asked.get(key, 0))
        return asked

    def _tally(self, arm: Arm) -> Tally:
        return self._seen.get((arm, self._control_runs if arm.case else self._runs), Tally())
