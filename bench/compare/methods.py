"""The methods that are compared, each a function from a case and a desk to an answer."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import anyio

import runtape
from runtape.context.suspicion import suspicion
from runtape.decision.wording import decision_text
from runtape.ops.asking import Asking, asking_models
from runtape.ops.hunch import Hunch, hunch_of

from .cases import Answer, Case
from .models import Body, Choice, Desk, DeskModel

Method: TypeAlias = Callable[[Case, Desk], Answer]

WHY = "why"
ASKING = "asking the model"
ALL_CALLS = "leave-one-out, as many calls"
PEER = "runtape 0.5.0"
HALF = 0.5
"""A text is blamed by leaving it out when at most this share of the runs without it decide the same."""


def why(case: Case, desk: Desk) -> Answer:
    """`runtape.why` with its defaults; from the decision back to the first text where the case asks for that."""
    depth: Literal["quick", "upstream"] = "quick" if case.upstream is None else "upstream"
    asked: dict[str, Any] = {**case.decision, "depth": depth}
    report = runtape.why(case.trace, case.event, model=DeskModel(desk), cache_dir=None, **asked)
    links = [report, *report.upstream]
    claims = tuple(tuple(cause.texts) for link in links for cause in link.causes)
    return Answer(tuple(links[-1].headline), claims, note=report.stopped or "")


def leave_one_out(runs: int) -> Method:
    """Every text alone left out, `runs` times; the one with the fewest repeats is blamed first."""

    def method(case: Case, desk: Desk) -> Answer:
        kept = {
            leaf: sum(map(case.decides, _asked(desk, case.without(leaf), runs))) / runs
            for leaf in range(len(case.leaves))
        }
        return _blamed(case, kept)

    return method


def _asked(desk: Desk, body: Body, runs: int) -> list[Choice]:
    """As few requests as the model allows."""
    choices: list[Choice] = []
    while len(choices) < runs:
        choices += desk.ask(body, min(desk.most, runs - len(choices)))
    return choices


def leave_one_out_within(calls: int) -> Method:
    """The same within a number of calls: one run of each text, the most suspicious wording first, then a second."""

    def method(case: Case, desk: Desk) -> Answer:
        order = _by_wording(case)
        kept = dict.fromkeys(order, 0)
        runs = dict.fromkeys(order, 0)
        for at in range(calls):
            leaf = order[at % len(order)]
            kept[leaf] += case.decides(desk.ask(case.without(leaf))[0])
            runs[leaf] += 1
        return _blamed(case, {leaf: kept[leaf] / runs[leaf] for leaf in order if runs[leaf]})

    return method


def _blamed(case: Case, rates: Mapping[int, float]) -> Answer:
    place = {leaf: at for at, leaf in enumerate(_by_wording(case))}
    order = sorted((leaf for leaf in rates if rates[leaf] <= HALF), key=lambda leaf: (rates[leaf], place[leaf]))
    return _named(case, *order)


def wording(case: Case, desk: Desk) -> Answer:  # noqa: ARG001 - asks nobody
    """The text that shares most with the decision's wording."""
    return _named(case, *_by_wording(case)[:1])


def chance(case: Case, desk: Desk) -> Answer:  # noqa: ARG001 - asks nobody
    """Any text."""
    return _named(case, random.Random(f"{case.seed} {case.name}").randrange(len(case.leaves)))


def asking(case: Case, desk: Desk) -> Answer:
    """The model's own guess, asked in one call with all texts before it; the first that it names."""

    async def guessed() -> Hunch:
        async with asking_models(Asking(model=DeskModel(desk), cache_dir=None)) as asked:
            return await hunch_of(case.opened, decision_text(case.opened.reply), asked)

    return _named(case, *anyio.run(guessed).order[:1])


def _named(case: Case, *leaves: int) -> Answer:
    texts = case.leaves
    claims = tuple((texts[leaf],) for leaf in leaves)
    return Answer(claims[0] if claims else (), claims)


def _by_wording(case: Case) -> list[int]:
    scores = suspicion(case.opened.context, decision_text(case.opened.reply))
    return sorted(range(len(scores)), key=lambda leaf: (-scores[leaf], leaf))


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        WHY: why,
        "leave-one-out, 1 run": leave_one_out(1),
        "leave-one-out, 5 runs": leave_one_out(5),
        "wording overlap": wording,
        ASKING: asking,
        "random": chance,
    }
)


def ask(method: Method, case: Case, desk: Desk) -> Answer:
    """What a method says about a case, with what it was charged."""
    started = time.perf_counter()
    answer = method(case, desk)
    spent = time.perf_counter() - started
    return replace(
        answer,
        calls=desk.calls,
        requests=desk.requests,
        seconds=max(0.0, spent - desk.waited) + desk.model_seconds,
        prompt_tokens=desk.prompt_tokens,
        reply_tokens=desk.reply_tokens,
    )
