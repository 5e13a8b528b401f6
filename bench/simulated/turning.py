"""A model that turns: it makes the decision whatever it reads, and from one sample on rarely or never.

Nothing says so: the name stays, and minutes pass. Every claim is false.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from random import Random

from runtape.search.attribute import Attribution
from runtape.search.ledger import Variant
from runtape.search.protocol import Want
from runtape.stats.rates import wilson
from runtape.stats.tally import Tally

from .families import Spec, build

BEFORE = 0.95
LATER = (0.0, 0.3, 0.5)
LAST = (12, 18, 24, 30, 36)
"""Samples that come from the model as it was."""
WORLDS = 40

_HEADINGS = "| rate later | after samples | some false claim % | told that the model changed % |\n|---|---|---|---|"


@dataclass(slots=True)
class _Turning:
    last: int
    later: float
    random: Random
    drawn: dict[tuple[Variant, str], list[bool]] = field(default_factory=dict[tuple[Variant, str], list[bool]])
    samples: int = 0

    def answer(self, wants: Sequence[Want[Variant]]) -> list[Tally]:
        """Samples of one batch come in any order."""
        missing: list[list[bool]] = []
        for want in wants:
            have = self.drawn.setdefault((want.variant, want.series), [])
            missing += [have] * (want.n - len(have))
        self.random.shuffle(missing)
        for have in missing:
            self.samples += 1
            have.append(self.random.random() < (BEFORE if self.samples <= self.last else self.later))
        return [_tally(self.drawn[want.variant, want.series][: want.n]) for want in wants]


def _tally(kept: Sequence[bool]) -> Tally:
    flips = len(kept) - sum(kept)
    return Tally(kept=sum(kept), n=len(kept), other=flips, instead=(("other", flips),) if flips else ())


def turning_table(first: int, workers: Executor) -> str:
    """Searches of a hundred texts, `WORLDS` for each place, with seeds from `first` up."""
    lines = [_HEADINGS]
    for later in LATER:
        results = [
            done for last in LAST for done in workers.map(partial(_search, last, later), range(first, first + WORLDS))
        ]
        false = sum(claimed for claimed, _ in results)
        share, limit = 100 * false / len(results), 100 * wilson(false, len(results)).high
        told = 100 * sum(noticed for _, noticed in results) / len(results)
        places = " or ".join(map(str, LAST))
        lines.append(f"| {later:g} | {places} | {share:.1f} (at most {limit:.1f}) | {told:.0f} |")
    return "\n".join(lines)


def _search(last: int, later: float, seed: int) -> tuple[bool, bool]:
    """Whether anything was claimed, and whether the search says that the model changed."""
    attribution = Attribution(build(Spec(family="null", messages=10), seed).problem)
    search, model = attribution.run(), _Turning(last, later, Random(seed))
    claimed = False
    try:
        wants = next(search)
        while True:
            wants = search.send(model.answer(wants))
            claimed = claimed or bool(attribution.claims)
    except StopIteration as done:
        finding = done.value
    return claimed or bool(finding.claims), finding.unfinished == "drift" or finding.restarts > 0
