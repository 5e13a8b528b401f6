"""Which reruns measure a set of candidate fixes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import ceil

from ..context.edits import by_place
from ..search.ledger import BASE
from ..search.protocol import Search, Want
from ..stats.exact import fisher_less
from ..stats.keeping import KeepTest
from ..stats.tally import Tally
from .arms import Arm, Measured, Sized
from .holding import FIRST, HELD, LOOK, MOST, FormPair, works
from .verdicts import (
    ALPHA,
    ENOUGH,
    GONE,
    LOOKS,
    ControlPair,
    still_needed,
    undecided,
    verdict_on,
    verdict_on_guard,
)

FIX = "fix"
"""Series of the samples of changed contexts. The search for the cause never draws from it, so these are fresh."""
FORM = "form"
"""Series of the samples of the other forms of the cause, without a change; a guard sorts these very replies."""

ALLOWANCE = 20
"""Reruns for each candidate, over all of them, up to which further ones are confirmed once one has passed."""
MOST_KEPT = 88
"""Most reruns of the controls with one candidate; where they do not settle it, it is left open."""


class Trial:
    """The reruns that measure candidate fixes as a race, and what they have shown so far.

    First a few reruns of every candidate, the bad decision as recorded, and the controls as recorded. Candidates with
    which the decision is still made are out. The others are confirmed one after another: `GONE` reruns of the bad
    decision, then the controls until they show a loss or none. Once one has passed, another is confirmed only while all
    candidates together keep to `ALLOWANCE` reruns each. Those in reserve get their first look when no other has passed.
    One that would pass is then tried in the other forms of the
    cause, which costs reruns of its own beside that allowance. `measured` is valid at any moment.
    """

    def __init__(
        self,
        arms: Mapping[str, Sequence[Arm]],
        controls: Sequence[str],
        *,
        runs: int,
        control_runs: int,
        order: Sequence[str] = (),
        reserve: Collection[str] = (),
        forms: Sequence[str] = (),
    ) -> None:
        """Plan the reruns.

        Args:
            arms: For each candidate, by name: its arm on the bad decision, then one for each control, then one for each
                form; a candidate without the last is not tried in them.
            controls: What each control is called.
            runs: Reruns of the bad decision as recorded; a first look at a candidate takes half as many.
            control_runs: Reruns of each control as recorded.
            order: The names in the order in which they are confirmed; that of `arms` when empty.
            reserve: The names of those that are rerun only when no other passes; leaving pieces out is no fix then.
            forms: What each other form of the cause is called.
        """
        self._arms = arms
        self._controls = controls
        self._forms = forms
        self._runs = runs
        self._control_runs = control_runs
        self._waiting = [name for name in order or arms if not arms[name][0].guard]
        self._seen: dict[Arm, Sized] = {}
        self._answers: dict[Sized, Tally] = {}
        self._asked: dict[Arm, int] = {}
        self._own = len(self._waiting)
        """Candidates that may have reruns of their own."""
        self._reserve = [name for name in self._waiting if name in reserve]
        self._over = False
        self._widened: set[str] = set()
        """Candidates that were tried in other forms."""

    @property
    def planned(self) -> int:
        """Samples that the whole trial asks for, as far as known now."""
        to_come = 0
        if not self._asked:
            to_come = sum(want.n for want in self._first())
        if not self._over and not self._passed() and (not self._asked or self._next() is not None):
            to_come += self._price() + len(self._forms) * (FIRST + HELD)
        return sum(self._asked.values()) + to_come

    @property
    def planned_base(self) -> int:
        """Those of them that are of the bad decision as recorded."""
        return self._asked.get(Arm(0), self._runs)

    def run(self) -> Search[Arm, None]:
        """Ask for the reruns, round by round."""
        yield from self._ask(self._first())
        # Guards come second because their samples are those of the first round: nothing new is sent for them.
        guarded = [
            arm
            for name, (bad, *_) in self._arms.items()
            if bad.guard
            for arm in (bad, *self._controlled(name))
            if self._usable(arm.case)
        ]
        yield from self._ask([Want(arm, self._control_runs if arm.case else self._runs, BASE) for arm in guarded])
        yield from self._race()
        if self._reserve and not self._passed():
            called, self._reserve = self._reserve, []
            yield from self._ask(self._looks(called))
            yield from self._race()
        for name in self._arms:
            if self._arms[name][0].guard and self._is_open(name):
                yield from self._widen(name)
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
        bad = self._arms[name][0]
        pairs = tuple(
            ControlPair(control, self._tally(Arm(arm.case)), self._tally(arm), touched=bool(arm.edits))
            for control, arm in zip(self._controls, self._controlled(name), strict=True)
            if self._usable(arm.case)
        )
        forms = tuple(
            FormPair(
                form,
                self._tally(Arm(arm.case)),
                self._tally(arm),
                touched=bool(arm.edits or arm.guard),
                sorted=arm.guard is not None,
            )
            for form, arm in zip(self._forms, self._formed(name), strict=False)
        )
        fixed = self._tally(bad)
        if bad.guard:
            base = self._answers.get((Arm(0), self._runs), Tally())
            judgement = verdict_on_guard(base, fixed, pairs, forms)
        else:
            judgement = verdict_on(self.base, fixed, pairs, self._own, forms)
        return Measured(fixed, pairs, judgement, forms if name in self._widened else ())

    def unusable(self) -> list[str]:
        """Controls that do not make their recorded decision again even without a change."""
        return [name for case, name in enumerate(self._controls, 1) if not self._usable(case)]

    def unworkable(self) -> list[tuple[str, Tally]]:
        """Forms in which the decision is not made without a change either, with what was seen."""
        arms = [Arm(1 + len(self._controls) + at) for at in range(len(self._forms))]
        seen = [(form, self._tally(arm)) for form, arm in zip(self._forms, arms, strict=True)]
        return [(form, base) for form, base in seen if (base.n or base.broken) and works(base) is False]

    def unconfirmed(self) -> list[str]:
        """Candidates that held at the first look and were not rerun often enough to pass."""
        return [name for name in self._waiting if name not in self._reserve and self._is_open(name)]

    @property
    def reserve(self) -> Sequence[str]:
        """Candidates that were not rerun, since another passed before their turn."""
        return self._reserve

    def _first(self) -> list[Want[Arm]]:
        controls = [Want(Arm(case), self._control_runs, BASE) for case in range(1, len(self._controls) + 1)]
        return [Want(Arm(0), self._runs, BASE), *self._looks(self._arms), *controls]

    def _looks(self, names: Iterable[str]) -> list[Want[Arm]]:
        """A first look at some candidates; a guard needs none, and those in reserve wait for theirs."""
        look = (self._runs + 1) // 2
        bad = [self._arms[name][0] for name in names if name not in self._reserve]
        return [Want(arm, look, FIX) for arm in bad if not arm.guard]

    def _race(self) -> Search[Arm, None]:
        """Confirm candidates one after another, and try those that would pass in the other forms of the cause."""
        while name := self._next():
            yield from self._confirm(name)
            if self._is_open(name):
                yield from self._widen(name)
            self._waiting.remove(name)

    def _confirm(self, name: str) -> Search[Arm, None]:
        bad, controls = self._arms[name][0], self._controlled(name)
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
            if not missing:
                return
            each += min(ENOUGH, missing)

    def _widen(self, name: str) -> Search[Arm, None]:
        """Try a candidate in the other forms of the cause."""
        if undecided(self.measured(name).controls):
            return
        self._widened.add(name)
        arms = self._formed(name)
        for n in (FIRST, MOST):
            unclear = [Arm(arm.case) for arm in arms if works(self._tally(Arm(arm.case))) is None]
            yield from self._ask([Want(arm, n, FORM) for arm in unclear])
        there = [arm for arm in arms if works(self._tally(Arm(arm.case)))]
        if self._arms[name][0].guard:
            yield from self._ask([Want(arm, self._tally(Arm(arm.case)).n, FORM) for arm in there])
            return
        for n in (LOOK, HELD):
            holding = [arm for arm in there if arm.edits and not self._tally(arm).kept]
            yield from self._ask([Want(arm, n, FIX) for arm in holding])

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
        spent = sum(n for arm, n in self._asked.items() if arm.edits and arm.case <= len(self._controls))
        if self._passed() and spent + self._price() > ALLOWANCE * (self._own - len(self._reserve)):
            return None
        return next(iter(self.unconfirmed()), None)

    def _price(self) -> int:
        """Reruns that confirm one candidate which breaks nothing."""
        again = max(GONE, self._runs) - (self._runs + 1) // 2
        return again + (KeepTest().needed(0, 0) if self._controls else 0)

    def _controlled(self, name: str) -> Sequence[Arm]:
        return self._arms[name][1 : 1 + len(self._controls)]

    def _formed(self, name: str) -> Sequence[Arm]:
        return self._arms[name][1 + len(self._controls) :]

    def _passed(self) -> bool:
        """Whether a change has passed that an agent can make: a guard is none, nor is leaving the source out."""
        return any(
            self._verdict(name) == "PASS"
            for name, (bad, *_) in self._arms.items()
            if not bad.guard and not by_place(bad.edits)
        )

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
