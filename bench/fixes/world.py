"""Fixes with a known truth, and the trial of `fix` played over them."""

from __future__ import annotations

import random
from dataclasses import dataclass

from runtape.context.edits import AddSystem, Edit
from runtape.ops.proposals import Proposal
from runtape.ops.repair import CONTROL_RUNS
from runtape.ops.shortlist import best_of, shortlist
from runtape.ops.trial import Arm, Trial
from runtape.search.protocol import Want
from runtape.stats.tally import Tally

RUNS = 10
"""Reruns of the bad decision, as `fix` asks for by default."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What a change really does."""

    bad: float
    """Rate of the bad decision with it."""
    kept: float = 1.0
    """Share of each benign decision that it keeps."""


@dataclass(frozen=True, slots=True)
class World:
    """One decision with the changes that are tried on it."""

    base: float
    """Rate of the bad decision as recorded."""
    benign: float
    """Rate at which a benign decision is made again as recorded."""
    fixes: dict[str, Truth]
    controls: int = 4


@dataclass(frozen=True, slots=True)
class Played:
    """What a trial said."""

    verdicts: dict[str, str]
    calls: int
    """Reruns drawn for the changes; those as recorded are needed with any number of them."""
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
        return self._world.benign * (truth.kept if truth else 1.0)

    @property
    def calls(self) -> int:
        return sum(len(made) for arm, made in self._drawn.items() if arm.edits)


def play(world: World, seed: int) -> Played:
    """One run of `fix`, from the first rerun of a change to its verdicts."""
    proposals = [Proposal(name, frozenset[Edit]({AddSystem(name)})) for name in world.fixes]
    names = [f"control {number}" for number in range(1, world.controls + 1)]
    arms = {p.name: [Arm(case, p.edits) for case in range(world.controls + 1)] for p in proposals}
    trial = Trial(arms, names, runs=RUNS, control_runs=CONTROL_RUNS)
    samples = _Samples(world, seed, {proposal.edits: proposal.name for proposal in proposals})
    search = trial.run()
    answers: list[Tally] | None = None
    while True:
        try:
            wants = next(search) if answers is None else search.send(answers)
        except StopIteration:
            break
        answers = [samples.tally(want) for want in wants]
    verdicts = {proposal.name: trial.measured(proposal.name).judgement.verdict for proposal in proposals}
    return Played(dict(verdicts), samples.calls, best_of(shortlist(proposals, trial)))
