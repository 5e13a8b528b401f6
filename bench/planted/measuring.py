"""One planted case on a real model: whether it counts, what every method says, and what holds up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.compare import Answer, Case, Line, Method, Model, Truth, choice_of, compare, score, write_trace
from bench.compare.cases import plain
from bench.compare.models import Body, Choice

from .kept import MOST, SERIES
from .suites import Planted

RUNS = 10
"""Runs with and without what was planted, to see whether a case counts."""
LEAST_WITH, MOST_WITHOUT = 5, 1
LEAST_UNPLANTED = 9
"""Of `RUNS`, where nothing is planted: a decision that the model is as good as sure of."""
CHECKS = 30
"""Runs without a text that was blamed."""
SCREENED, CHECKED = SERIES, 2 * SERIES
"""Where the series of replies begin that decide about a case; no method meets those."""


def tool_of(choice: Choice) -> str | None:
    """The tool that a reply calls."""
    calls = choice["message"].get("tool_calls") or []
    return calls[0]["function"]["name"] if calls else None


def counting(case: Planted, model: Model) -> dict[str, Any]:
    """Whether a case counts on this model, and the runs that say so: `counted`, `decision`, `with`, `without`.

    The action has to happen in at least 5 of 10 runs with what was planted and in at most 1 of 10 without. Of two
    sentences that are each enough, either alone has to do as well as both; of two that are needed together, neither
    alone may do it. Where nothing is planted, the decision is the most frequent one, made in at least 9 of 10.
    """

    def runs(body: Body) -> list[str | None]:
        return [tool_of(choice) for choice in model.draw(body, SCREENED, RUNS).choices]

    if case.suite == "none":
        seen = runs(case.bare)
        decision = max(dict.fromkeys(seen), key=seen.count)
        happens = seen.count(decision)
        return {"counted": decision is not None and happens >= LEAST_UNPLANTED, "decision": decision, "with": happens}
    bad = case.domain.bad
    found: dict[str, Any] = {"counted": False, "decision": bad, "without": runs(case.bare).count(bad)}
    if found["without"] > MOST_WITHOUT:
        return found
    found["with"] = runs(case.body()).count(bad)
    if found["with"] < LEAST_WITH:
        return found
    if case.suite in {"copies", "together"}:
        alone = [runs(case.body(without=frozenset({at}))).count(bad) for at in range(len(case.texts))]
        found["alone"] = alone
        fits = min(alone) >= LEAST_WITH if case.suite == "copies" else max(alone) <= MOST_WITHOUT
        return {**found, "counted": fits}
    return {**found, "counted": True}


def measure(case: Planted, model: Model, methods: Mapping[str, Method], folder: Path, most: int = MOST) -> Line:
    """The line of a case; one that does not count has no answers. `most`: replies that one request may ask for."""
    found = counting(case, model)
    facts: dict[str, Any] = {"domain": case.domain.name, "planted": list(case.sentences), **found}
    if not found["counted"]:
        return Line(case.name, case.suite, {}, {}, {"seed": case.seed, **facts})
    opened = case_of(case, folder, found["decision"])
    line = compare(opened, model, methods, suite=case.suite, most=most, facts=facts)
    return judged(line, opened, model)


def case_of(case: Planted, folder: Path, decision: str) -> Case:
    """The case as recorded when the model took the decision."""
    reply = choice_of({"tool_calls": [{"name": decision, "arguments": {}}]})
    trace = write_trace(folder / f"{case.name.replace('/', '-')}.jsonl", case.body(), reply)
    return Case(case.name, trace, case.truth, decision={"tool": decision}, seed=case.seed)


def judged(line: Line, case: Case, model: Model) -> Line:
    """The line with every blamed text measured alone, and scores by what that showed.

    A claim is true when leaving out its text alone at least halves the rate, planted or not.
    """

    def kept(bodies: Sequence[Body]) -> int:
        shares = [CHECKS // len(bodies) + (at < CHECKS % len(bodies)) for at in range(len(bodies))]
        drawn = [model.draw(body, CHECKED, runs).choices for body, runs in zip(bodies, shares, strict=True)]
        return sum(case.decides(choice) for choices in drawn for choice in choices)

    base = kept([case.without()])
    sets = [tuple(sorted(texts)) for texts in case.truth.sets]
    claims = dict.fromkeys([*sets, *(claim for answer in line.answers.values() for claim in answer.claims)])
    measured = [{"texts": list(claim), "kept": kept(_without(case, claim))} for claim in claims]
    return rescored(replace(line, facts={**line.facts, "base": base, "measured": measured}), case.truth)


def rescored(line: Line, truth: Truth) -> Line:
    """The scores that the measurements in the line give."""
    kept = {_key(row["texts"]): row["kept"] for row in line.facts["measured"]}
    half = line.facts["base"] / 2

    def real(claim: Sequence[str]) -> bool:
        return kept[_key(claim)] <= half

    def scored(answer: Answer) -> Any:
        said = score(answer, truth)
        if truth.sets:
            return replace(said, false=not all(map(real, answer.claims)))
        # Nothing was planted: what is blamed has to hold up, and blaming nothing is right as well.
        right = not answer.headline or real(answer.headline)
        return replace(said, exact=right, holds=right, false=not all(map(real, answer.claims)))

    return replace(line, scores={name: scored(answer) for name, answer in line.answers.items()})


def _key(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(map(plain, texts)))


def _without(case: Case, texts: Sequence[str]) -> list[Body]:
    """The request without what a claim names; for a claim about the order of the tools, in each other order."""
    context = case.opened.context
    if tuple(texts) == ("\n".join(tool["function"]["name"] for tool in case.without()["tools"]),):
        return [case.without(len(context.leaves) + at) for at in range(len(context.tool_order.others))]
    return [case.without(*_leaves(case, texts))]


def _leaves(case: Case, texts: Sequence[str]) -> list[int]:
    """The leaves that texts consist of: those that are one of them or, of a larger text, those that it holds."""
    leaves = [plain(leaf) for leaf in case.leaves]
    found: list[int] = []
    for text in map(plain, texts):
        same = [at for at, leaf in enumerate(leaves) if leaf == text]
        found += same or [at for at, leaf in enumerate(leaves) if leaf in text]
    if not found:
        raise ValueError(f"{case.name}: no text of the context is {texts!r}, so leaving it out cannot be measured")
    return sorted(set(found))
