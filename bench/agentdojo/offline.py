"""All pairs of AgentDojo with simulated models: what every method says, one line for each case.

A case is an attack, whose cause is the injection's first sentence, or a control, where the agent goes on with the
user's task although it has read the injection: there the injection and the decoys are innocent.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Literal

from runtape.context.split import split

from ..compare import ASKING, METHODS, PEER, WHY, Answer, Line, Method, Truth, compare, peer, score
from .cases import Pair, Posed, pose
from .wording import squashed

Kind = Literal["attack", "control"]
KINDS: tuple[Kind, ...] = ("attack", "control")
REPORTED, TUNING = 4_000_000, 0
"""Seeds of the results, and of all else: nothing may be chosen by looking at the first."""
BASELINES = {name: method for name, method in METHODS.items() if name != ASKING}
"""A simulated model has no opinion that it could be asked for."""
ON_CONTROLS = (WHY, "wording overlap", "random")
"""Beside leaving one out in as many calls; with fewer calls or more, that names dozens of innocent texts."""
PART = 8
LONG = 15
"""Letters and digits from which a sentence does not stand inside another text by chance."""


@dataclass(frozen=True, slots=True)
class Job:
    """A case to play."""

    pair: Pair
    kind: Kind

    @property
    def name(self) -> str:
        return f"{self.pair.name}, {self.kind}"


def jobs_of(pairs: Sequence[Pair]) -> list[Job]:
    """An attack of every pair, and a control of every second one."""
    return [Job(pair, kind) for at, pair in enumerate(pairs) for kind in KINDS[: 2 - at % 2]]


def play(jobs: Sequence[Job], seed: int, workers: int, public: str | None = None) -> Iterator[Line]:
    """The lines of some cases, as they are done; `public`: compare the package in that interpreter with `why` alone."""
    parts = [jobs[at : at + PART] for at in range(0, len(jobs), PART)]
    with ProcessPoolExecutor(workers) as pool:
        for lines in pool.map(_play, parts, repeat(seed), repeat(public)):
            yield from lines


def _play(jobs: Sequence[Job], seed: int, public: str | None) -> list[Line]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="runtape-agentdojo-")))
        other = stack.enter_context(peer(public)) if public else None
        return [_line(job, seed, folder, _methods(job, other)) for job in jobs]


def _methods(job: Job, other: Method | None) -> Mapping[str, Method]:
    if other is not None:
        return {WHY: METHODS[WHY], PEER: other}
    return BASELINES if job.kind == "attack" else {name: BASELINES[name] for name in ON_CONTROLS}


def _line(job: Job, seed: int, folder: Path, methods: Mapping[str, Method]) -> Line:
    posed = pose(job.pair, folder, seed=seed, control=job.kind == "control")
    line = compare(posed.case, posed.model, methods, suite=job.kind, equal=PEER not in methods)
    posed.case.trace.unlink()
    return judged(line, posed, job.pair)


def judged(line: Line, posed: Posed, pair: Pair) -> Line:
    """The same line scored by letters and digits alone, since methods quote YAML as it stands or as it is meant.

    Texts are kept for `why` alone; a line with all that leaving one out blames would be ten times as long.
    """
    truth = Truth(tuple(frozenset(map(squashed, s)) for s in posed.case.truth.sets), _squashed(posed.case.truth.needed))
    said = {name: _plain(answer) for name, answer in line.answers.items()}
    foreign = [squashed(leaf.text) for text in posed.foreign for leaf in split(text).leaves()]
    rate, without = posed.rates
    facts = {
        "pair": pair.suite,
        "seed": posed.case.seed,
        "rate": rate,
        "without": without,
        "leaves": len(posed.case.leaves),
        "blames": {name: blames(answer, foreign) for name, answer in said.items()},
    }
    answers = {
        name: replace(answer, claims=(), headline=answer.headline if name == WHY else ())
        for name, answer in line.answers.items()
    }
    return Line(line.case, line.suite, answers, {name: score(one, truth) for name, one in said.items()}, facts)


def blames(answer: Answer, foreign: Sequence[str]) -> bool:
    """Whether some claim names a sentence that others than the user wrote, or words with one in them."""
    return any(
        text == other or (len(other) >= LONG and other in text)
        for claim in answer.claims
        for text in claim
        for other in foreign
    )


def _plain(answer: Answer) -> Answer:
    claims = tuple(tuple(map(squashed, claim)) for claim in answer.claims)
    return replace(answer, headline=tuple(map(squashed, answer.headline)), claims=claims)


def _squashed(texts: frozenset[str]) -> frozenset[str]:
    return frozenset(map(squashed, texts))
