"""A model with a planted answer, asked in a plain loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

from runtape.search.attribute import Attribution
from runtape.search.finding import Finding
from runtape.search.problem import Problem
from runtape.search.protocol import Want
from runtape.search.settings import Settings
from runtape.stats.tally import Outcome, Tally, count

Variant = frozenset[int]
Rate = Callable[[Variant], float]


@dataclass
class PlantedModel:
    """Answers wants; every series of a variant is a fixed stream of outcomes, as a reply cache would hold it."""

    rate: Rate
    stops: Callable[[Variant], bool] = lambda removed: False
    """Whether a flip stops rather than does something else."""
    void: float = 0.0
    """Share of the answers that count as no sample."""
    broken: Callable[[Variant], bool] = lambda removed: False
    seed: int = 0
    batches: list[list[Want[Variant]]] = field(default_factory=list)
    drawn: dict[tuple[Variant, str], int] = field(default_factory=dict)

    @property
    def calls(self) -> int:
        return sum(self.drawn.values())

    def answer(self, wants: Sequence[Want[Variant]]) -> list[Tally]:
        self.batches.append(list(wants))
        return [self.tally(want) for want in wants]

    def tally(self, want: Want[Variant]) -> Tally:
        key = (want.variant, want.series)
        self.drawn[key] = max(want.n, self.drawn.get(key, 0))
        if self.broken(want.variant):
            return Tally(broken="the server refuses this request")
        luck = Random(f"{self.seed} {sorted(want.variant)} {want.series}")
        return count(self._outcome(luck, want.variant) for _ in range(want.n))

    def _outcome(self, luck: Random, removed: Variant) -> Outcome:
        void, keeps = luck.random() < self.void, luck.random() < self.rate(removed)
        if void:
            return Outcome("truncated", "is cut")
        if keeps:
            return Outcome("same", "calls pay")
        return Outcome("stop", "answers in text") if self.stops(removed) else Outcome("other", "calls archive")


def needs(*leaves: int, rate: float = 1.0, without: float = 0.0) -> Rate:
    """The decision is made while all these leaves are there."""
    return lambda removed: without if removed.intersection(leaves) else rate


def needs_one_of(*leaves: int, rate: float = 1.0, without: float = 0.0) -> Rate:
    """The decision is made while one of these leaves is there."""
    return lambda removed: without if removed.issuperset(leaves) else rate


def context(
    leaves: int = 100,
    *,
    pinned: Iterable[int] = (),
    hot: Iterable[int] = (),
    groups: Sequence[Iterable[int]] = (),
    suspects: Iterable[int] = (),
    forced: bool = False,
    reorderings: int = 0,
    seed: int = 0,
) -> Problem:
    """A context of messages of ten leaves; `hot` leaves stand out by their wording."""
    luck = Random(seed)
    marked = set(hot)
    return Problem(
        leaves=leaves,
        pinned=frozenset(pinned),
        scores=tuple(luck.gauss(1.0 if leaf in marked else 0.0, 1.0) for leaf in range(leaves)),
        message_of=tuple(leaf // 10 for leaf in range(leaves)),
        forced=forced,
        seed=seed,
        groups=tuple(map(frozenset, groups)),
        suspects=frozenset(suspects),
        reorderings=reorderings,
    )


def investigate(
    problem: Problem, model: PlantedModel, settings: Settings | None = None, *, batches: int | None = None
) -> Finding:
    """The finding of a search, or what it knows when it is killed after some batches."""
    attribution = Attribution(problem, settings)
    search = attribution.run()
    try:
        wants = next(search)
        while batches is None or len(model.batches) < batches:
            wants = search.send(model.answer(wants))
    except StopIteration as done:
        return done.value
    return attribution.finding(stopped=True)


def sets(finding: Finding) -> list[set[int]]:
    """The claimed sets of leaves, headline first."""
    return [set(claim.leaves) for claim in finding.claims]
