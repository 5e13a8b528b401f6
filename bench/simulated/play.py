"""One search in one world, and how right it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from runtape.search.attribute import Attribution
from runtape.search.finding import Claim, Finding, Status
from runtape.search.protocol import Search
from runtape.search.settings import Settings

from .families import Spec, build, causes
from .world import Rule, World


@dataclass(frozen=True, slots=True)
class Score:
    """What one search found and what it cost."""

    exact: bool
    """Every planted cause is a claim of its own: exactly the leaf, or exactly a set whose removal is just enough."""
    headline: bool
    """The first claim is a planted cause."""
    required: float | None
    """Share of the required inputs that are claims of their own; None when there is none."""
    false: bool
    """At some round some claim held no leaf that is truly needed; whoever stops there reports it."""
    drops: int
    """Right claims."""
    covered: int
    """Those whose interval holds the true drop."""
    status: Status
    calls: int
    contexts: int
    waves: int


def play(spec: Spec, settings: Settings, seed: int) -> Score:
    """Runs one search to its end."""
    world = build(spec, seed)
    attribution = Attribution(world.problem, settings)
    return run(world, attribution.run(), lambda: attribution.claims)


def run(world: World, search: Search[frozenset[int], Finding], claims: Callable[[], Sequence[Claim]]) -> Score:
    """Runs any search to its end, looking at its claims after every round."""
    needed = _needed(world.rule)
    wrong = False
    try:
        wants = next(search)
        while True:
            wants = search.send(world.answer(wants))
            wrong = wrong or any(_is_false(world, claim, needed) for claim in claims())
    except StopIteration as done:
        finding: Finding = done.value
    return score(world, finding, wrong=wrong)


def _needed(rule: Rule) -> set[int]:
    return set() if rule.ignores else causes(rule) | set(rule.required)


def _is_false(world: World, claim: Claim, needed: set[int]) -> bool:
    if claim.kind == "order":
        return not world.rule.ordered
    return not needed & set(claim.leaves)


def score(world: World, finding: Finding, *, wrong: bool = False) -> Score:
    rule = world.rule
    planted = set() if rule.ignores else causes(rule)
    needed = _needed(rule)
    claimed = [set(claim.leaves) for claim in finding.claims]
    drops = [claim for claim in finding.claims if set(claim.leaves) <= needed]
    truth = rule.rate - rule.without
    wanted = [(set(group.members), len(group.members) - group.need + 1) for group in rule.groups]
    if rule.masked:
        wanted.append(({rule.masked[0]}, 1))
    by_order = rule.ordered and any(claim.kind == "order" for claim in finding.claims)
    return Score(
        exact=by_order
        or (bool(wanted) and all(any(c <= members and len(c) == size for c in claimed) for members, size in wanted)),
        headline=by_order or bool(claimed and claimed[0] & planted),
        required=sum({leaf} in claimed for leaf in rule.required) / len(rule.required) if rule.required else None,
        false=wrong or any(_is_false(world, claim, needed) for claim in finding.claims),
        drops=len(drops),
        covered=sum(claim.low <= truth <= claim.high for claim in drops),
        status=finding.status,
        calls=world.calls,
        contexts=world.contexts,
        waves=world.waves,
    )
