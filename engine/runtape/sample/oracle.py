"""Answers a search's wants with samples: apply the edits, sample, judge, count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from ..errors import EditChangesNothing
from ..said import Said
from ..search.protocol import Want
from ..stats.tally import Outcome, Provenance, Tally, Verdict, count
from ..wire.values import Reply, Request
from .asks import Ask, Drawn
from .judged import Learn, counts, draw_judged
from .model import Answer
from .sampler import Sampler
from .served import served_as, split

V = TypeVar("V", bound=Hashable)

MANY = 0.05
"""Share of cut answers from which on the reader is told: they say nothing about the decision and cost as much."""


class Oracle(Generic[V]):
    """Turns variants into requests with `render`, draws them, and reads the replies with `judge`.

    Where `judge` knows no outcome yet (None), `learn` has to find it out; that may cost model calls of its own.
    """

    def __init__(
        self,
        render: Callable[[V], Request],
        judge: Callable[[Reply], Outcome | None],
        sampler: Sampler,
        learn: Learn | None = None,
    ) -> None:
        self._learn = learn
        self._render = render
        self._judge = judge
        self._sampler = sampler
        self._rendered: dict[V, Request | str] = {}
        """By variant, its request or why there is none."""
        self._latest: dict[tuple[V, str], Tally] = {}
        self._recorded: V | None = None
        """The variant that is asked first: the context as it was recorded."""
        self._of_recorded: dict[str, list[tuple[Answer, Outcome]]] = {}
        """By series, its answers and what they did."""

    async def answer(self, wants: Sequence[Want[V]]) -> list[Tally]:
        """One tally per want, in the same order; a want that cannot be sampled has a `broken` tally.

        Raises:
            BudgetSpent: a sample does not fit the budget. What did fit was drawn and is kept.
            ModelFailed: the model cannot answer. What arrived before is kept.
        """
        requests = [self._request(want.variant) for want in wants]
        asks = [
            Ask(request, want.series, want.n, self._counts)
            for want, request in zip(wants, requests, strict=True)
            if isinstance(request, Request)
        ]
        # What is only named ahead is worth no wait of its own.
        ahead = [] if all(map(self._sampler.has, asks)) else self._ahead(wants, requests)
        drawn = iter(await draw_judged(self._sampler, [*asks, *ahead], self._judge, self._learn))
        tallies: list[Tally] = []
        for want, request in zip(wants, requests, strict=True):
            if isinstance(request, str):
                tallies.append(Tally(broken=request))
                continue
            tallies.append(self._counted(want, next(drawn)))
        return tallies

    def _ahead(self, wants: Sequence[Want[V]], requests: Sequence[Request | str]) -> list[Ask]:
        """What the next batch will most likely want, where the budget has room for it."""
        asks = [
            Ask(request, want.series, want.ahead, self._counts)
            for want, request in zip(wants, requests, strict=True)
            if want.ahead > want.n and isinstance(request, Request)
        ]
        return asks if self._sampler.spares(sum(ask.n for ask in asks)) else []

    def _counted(self, want: Want[V], got: Drawn) -> Tally:
        outcomes = [self._outcome(answer) for answer in got.answers]
        if self._recorded is None:
            self._recorded = want.variant
        if want.variant == self._recorded:
            self._of_recorded[want.series] = list(zip(got.answers, outcomes, strict=True))
        counted = _tally(outcomes, got.answers, got.broken)
        tally = replace(counted, source=_source(got.answers))
        self._latest[want.variant, want.series] = tally
        return tally

    @property
    def notes(self) -> list[Said]:
        """What the reader of the tallies has to know, the sampler's notes included."""
        void: Counter[Verdict] = Counter()
        total = 0
        for tally in self._latest.values():
            void.update(dict(tally.void))
            total += tally.n + sum(number for _, number in tally.void)
        notes = list(self._sampler.notes)
        if void["truncated"] > MANY * total:
            cut = (
                f"{void['truncated']} of {total} answers were cut at the length limit and count as no sample: "
                "the recorded max_tokens may be too small for what the model says"
            )
            notes.append(Said(cut))
        apart = split((pair for pairs in self._of_recorded.values() for pair in pairs), "The decision as recorded")
        return notes if apart is None else [*notes, apart]

    def _request(self, variant: V) -> Request | str:
        if variant not in self._rendered:
            try:
                self._rendered[variant] = self._render(variant)
            except EditChangesNothing as error:
                self._rendered[variant] = str(error)
        return self._rendered[variant]

    def _outcome(self, answer: Answer) -> Outcome:
        if answer.reply is None:
            return Outcome("invalid", "sends no readable answer")
        return self._judge(answer.reply) or Outcome("unjudged", "was not judged")

    def _counts(self, answer: Answer) -> bool:
        return counts(answer, self._judge)


def _source(answers: Sequence[Answer]) -> Provenance:
    """Who gave these answers, and when."""
    times = [answer.at for answer in answers if answer.at is not None]
    served = {name for answer in answers if (name := served_as(answer)) is not None}
    return Provenance(min(times, default=None), max(times, default=None), frozenset(served))


def _tally(outcomes: Sequence[Outcome], answers: Sequence[Answer], broken: str | None) -> Tally:
    if broken is None and outcomes and not count(outcomes).n:
        kinds = ", ".join(f"{number} {verdict}" for verdict, number in count(outcomes).void)
        errors = [answer.error for answer in answers if answer.error]
        broken = f"none of its {len(outcomes)} answers counts ({kinds})" + (f": {errors[-1]}" if errors else "")
    return count(outcomes, broken)
