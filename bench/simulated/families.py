"""Families of worlds, built from a seed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from runtape.search.problem import Problem

from .world import Group, Rule, World

Family = Literal["null", "single", "and", "or", "neighbours", "masked", "order"]


@dataclass(frozen=True, slots=True)
class Spec:
    """A family with its sizes and rates; a row of a table."""

    family: Family = "single"
    messages: int = 10
    leaves: int = 10
    """Leaves per message."""
    varied: bool = False
    """Messages of 1 to 60 leaves instead."""
    rate: float = 1.0
    without: float = 0.0
    inputs: int = 0
    """Required inputs: one in the system prompt, one in the user's task, the rest in data."""
    causes: int = 1
    """Leaves that make the agent act this way: all needed (and), or `need` of them (or, neighbours)."""
    need: int = 1
    fragility: float = 0.0
    fragile_from: float = 0.30
    wording: float = 1.0
    """How far, in standard deviations, the cause's wording stands out; 0: not at all."""
    grouped: bool = False
    """The copies are near-duplicates, so that the search is told to treat them as one."""
    suspect: Literal["none", "right", "wrong"] = "none"
    forced: bool = False
    agreeing: int = 0
    """The first reruns as recorded all repeat, as they do before somebody trusts temperature 0."""


def build(spec: Spec, seed: int) -> World:
    """The world of a row for one seed."""
    rng = np.random.default_rng([seed, 3])
    sizes = [spec.leaves] * spec.messages
    if spec.varied:
        sizes = [int(np.clip(rng.lognormal(np.log(spec.leaves) - 0.4, 0.9), 1, 60)) for _ in sizes]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    taken: list[int] = []

    def pick(lowest: int, highest: int) -> int:
        while True:
            message = int(rng.integers(lowest, highest))
            leaf = int(starts[message] + rng.integers(sizes[message]))
            if leaf not in taken:
                taken.append(leaf)
                return leaf

    read = 2 if spec.inputs else 0
    required = [pick(at, at + 1) if at < 2 else pick(2, spec.messages) for at in range(spec.inputs)]
    rule = Rule(
        required=tuple(required),
        rate=spec.rate,
        without=spec.without,
        fragility=spec.fragility,
        fragile_from=spec.fragile_from,
    )
    match spec.family:
        case "null":
            rule = replace(rule, ignores=True)
        case "order":
            rule = replace(rule, ignores=True, ordered=True)
        case "single" | "and":
            rule = replace(rule, groups=tuple(Group((pick(read, spec.messages),)) for _ in range(spec.causes)))
        case "or":
            copies = tuple(pick(read, spec.messages) for _ in range(spec.causes))
            rule = replace(rule, groups=(Group(copies, spec.need),))
        case "neighbours":
            rule = replace(rule, groups=(Group(_run(rng, starts, sizes, read, spec.causes, taken=taken), spec.need),))
        case "masked":
            cause, mask = _run(rng, starts, sizes, read, 2, taken=taken, adjacent=False)
            rule = replace(rule, masked=(cause, mask))
    return World(_problem(spec, seed, sizes, rule), replace(rule, agreeing=spec.agreeing))


def causes(rule: Rule) -> set[int]:
    """The leaves that make the agent act this way."""
    return {leaf for group in rule.groups for leaf in group.members} | ({rule.masked[0]} if rule.masked else set())


def _run(
    rng: np.random.Generator,
    starts: np.ndarray,
    sizes: list[int],
    read: int,
    count: int,
    *,
    taken: list[int],
    adjacent: bool = True,
) -> tuple[int, ...]:
    """Free leaves of one message, next to each other or anywhere in it."""
    while True:
        message = int(rng.integers(read, len(sizes)))
        if sizes[message] <= count:
            continue
        if adjacent:
            first = int(starts[message] + rng.integers(sizes[message] - count))
            chosen = tuple(range(first, first + count))
        else:
            places = rng.choice(sizes[message], count, replace=False)
            chosen = tuple(int(starts[message] + place) for place in places)
        if not set(chosen) & set(taken):
            return chosen


def _problem(spec: Spec, seed: int, sizes: list[int], rule: Rule) -> Problem:
    """What the search is told: wording scores that are a weak signal, and where the messages are."""
    leaves = sum(sizes)
    planted = causes(rule)
    rng = np.random.default_rng([seed, 11])
    scores = rng.normal(0, 1, leaves)
    scores[sorted(planted)] += spec.wording
    scores[sorted(rule.required)] += 0.5 * spec.wording
    message_of = np.repeat(np.arange(len(sizes)), sizes)
    suspects: frozenset[int] = frozenset()
    if spec.suspect == "right":
        suspects = frozenset(sorted(planted)[:1])
    elif spec.suspect == "wrong":
        innocent = [leaf for leaf in range(leaves) if leaf not in planted and leaf not in rule.required]
        suspects = frozenset({int(rng.choice(innocent))})
    return Problem(
        leaves=leaves,
        pinned=frozenset(np.flatnonzero(message_of <= 1).tolist()),
        scores=tuple(scores.tolist()),
        message_of=tuple(message_of.tolist()),
        forced=spec.forced,
        seed=seed,
        groups=tuple(frozenset(group.members) for group in rule.groups) if spec.grouped else (),
        suspects=suspects,
        reorderings=4 if rule.ordered else 0,
    )
