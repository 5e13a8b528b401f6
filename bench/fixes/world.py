"""Fixes with a known truth, and the trial of `fix` played over them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from runtape.context.edits import AddSystem, Edit
from runtape.ops.arms import Arm
from runtape.ops.proposals import Proposal
from runtape.ops.repair import CONTROL_RUNS
from runtape.ops.shortlist import best_of, shortlist
from runtape.ops.trial import Trial
from runtape.report.held import Outcome
from runtape.search.protocol import Want
from runtape.stats.tally import Tally

RUNS = 10
"""Reruns of the bad decision, as `fix` asks for by default."""
FORMS = ("start", "end", "elsewhere", "reworded (1)", "reworded (2)")
"""The three other places, and two wordings of the caller."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What a change really does."""

    bad: float
    """Rate of the bad decision with it, on the recorded context."""
    kept: float = 1.0
    """Share of each benign decision that it keeps."""
    forms: dict[str, float] = field(default_factory=dict[str, float])
    """Rate of the bad decision with it in those forms of the cause where it is another one."""


@dataclass(frozen=True, slots=True)
class World:
    """One decision with the changes that are tried on it."""

    base: float
    """Rate of the bad decision as recorded."""
    benign: float
    """Rate at which a benign decision is made again as recorded."""
    fixes: dict[str, Truth]
    harmless: frozenset[str] = frozenset()
    """Forms of the cause that do not lead to the bad decision."""
    controls: int = 4


@dataclass(frozen=True, slots=True)
class Played:
    """What a trial said."""

    verdicts: dict[str, str]
    forms: dict[str, dict[str, Outcome]]
    """By change, what was said of each form; empty for a change that did not come that far."""
    calls: int
    """Reruns of the race drawn for the changes; those as recorded are needed with any number of them."""
    moving: int
    """Reruns of the other forms of the cause, with and without a change."""
    best: str | None


class _Samples:
    """Reruns of a world; more of an arm continue those that were drawn."""

    def __init__(self, world: World, seed: int, edits: dict[frozenset[Edit], str]) -> None:
        self._world = world
        self._edits = edits
        self._chance = random.Random(f"fixes {seed}")
        self._drawn: dict[Arm, list[bool]] = {}

    def tally(self, want: Want[Arm]) -> Tally:
        made = self._drawn.setdefault(want.variant, [])
        while len(made) < want.n:
            made.append(self._chance.random() < self._rate(want.variant))
        return Tally(sum(made[: want.n]), want.n)

    def _rate(self, arm: Arm) -> float:
        truth = self._world.fixes[self._edits[arm.edits]] if arm.edits else None
        if arm.case == 0:
            return self._world.base if truth is None else truth.bad
        if self._is_form(arm):
            form = FORMS[arm.case - self._world.controls - 1]
            if form in self._world.harmless:
                return 0.0
            return self._world.base if truth is None else truth.forms.get(form, truth.bad)
        return self._world.benign * (truth.kept if truth else 1.0)

    def _is_form(self, arm: Arm) -> bool:
        return arm.case > self._world.controls

    @property
    def calls(self) -> int:
        return sum(len(made) for arm, made in self._drawn.items() if arm.edits and not self._is_form(arm))

    @property
    def moving(self) -> int:
        return sum(len(made) for arm, made in self._drawn.items() if self._is_form(arm))


def play(world: World, seed: int) -> Played:
    """One run of `fix`, from the first rerun of a change to its verdicts."""
    proposals = [Proposal(name, frozenset[Edit]({AddSystem(name)})) for name in world.fixes]
    names = [f"control {number}" for number in range(1, world.controls + 1)]
    arms = {p.name: [Arm(case, p.edits) for case in range(1 + world.controls + len(FORMS))] for p in proposals}
    trial = Trial(arms, names, runs=RUNS, control_runs=CONTROL_RUNS, forms=FORMS)
    samples = _Samples(world, seed, {proposal.edits: proposal.name for proposal in proposals})
    search = trial.run()
    answers: list[Tally] | None = None
    while True:
        try:
            wants = next(search) if answers is None else search.send(answers)
        except StopIteration:
            break
        answers = [samples.tally(want) for want in wants]
    found = {proposal.name: trial.measured(proposal.name) for proposal in proposals}
    return Played(
        {name: measured.judgement.verdict for name, measured in found.items()},
        {name: {form.name: form.held.outcome for form in measured.forms} for name, measured in found.items()},
        samples.calls,
        samples.moving,
        best_of(shortlist(proposals, trial)),
    )
