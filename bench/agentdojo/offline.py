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
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from runtape.context.split import split

from ..compare import ALL_CALLS, ASKING, METHODS, PEER, WHY, Answer, Line, Method, Truth, compare, peer, score
from . import dojo
from .cases import Pair, Posed, pose
from .wording import squashed

Kind = Literal["attack", "control"]
KINDS: tuple[Kind, ...] = ("attack", "control")
REPORTED, TUNING = 4_000_000, 0
"""Seeds of the results, and of all else: nothing may be chosen by looking at the first."""
BASELINES = {name: method for name, method in METHODS.items() if name != ASKING}
"""A simulated model has no opinion that it could be asked for."""
COMPARED = (*BASELINES, ALL_CALLS)
PUBLIC = (WHY, PEER)
PART = 8
LONG = 15
"""Letters and digits from which a sentence does not stand inside another text by chance."""


@dataclass(frozen=True, slots=True)
class Job:
    """Some pairs for one worker."""

    pairs: Sequence[Pair]
    seed: int
    kinds: Sequence[Kind]
    public: str | None = None
    """The interpreter of the public package, which is then compared with `why` alone."""


def name_of(pair: Pair, kind: Kind) -> str:
    return f"{pair.name}, {kind}"


def play(pairs: Sequence[Pair], seed: int, kinds: Sequence[Kind], workers: int, public: str | None) -> Iterator[Line]:
    """The lines of all cases, as they are done."""
    jobs = [Job(pairs[at : at + PART], seed, kinds, public) for at in range(0, len(pairs), PART)]
    with ProcessPoolExecutor(workers) as pool:
        for lines in pool.map(_play, jobs):
            yield from lines


def _play(job: Job) -> list[Line]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="runtape-agentdojo-")))
        methods: Mapping[str, Method] = BASELINES
        if job.public:
            methods = {WHY: METHODS[WHY], PEER: stack.enter_context(peer(job.public))}
        return [_line(pair, kind, job.seed, folder, methods) for pair in job.pairs for kind in job.kinds]


def _line(pair: Pair, kind: Kind, seed: int, folder: Path, methods: Mapping[str, Method]) -> Line:
    posed = pose(pair, folder, seed=seed, control=kind == "control", attack=_attack(pair.suite))
    line = compare(posed.case, posed.model, methods, suite=kind, equal=PEER not in methods)
    posed.case.trace.unlink()
    return judged(line, posed, pair)


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


@lru_cache
def _attack(suite: str) -> Any:
    return dojo.attack_on(dojo.get_suite(dojo.VERSION, suite))
