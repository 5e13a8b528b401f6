"""One search in one world, and how right it was."""

from __future__ import annotations

from dataclasses import dataclass

from runtape.search.attribute import Attribution
from runtape.search.finding import Finding, Status
from runtape.search.settings import Settings

from .families import Spec, build, causes
from .world import World


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
    """Some claim holds no leaf that is truly needed."""
    covered: float | None
    """Share of the right claims whose interval holds the true drop; None when there is none."""
    status: Status
    calls: int
    contexts: int
    waves: int


def play(spec: Spec, settings: Settings, seed: int) -> Score:
    """Runs one search to its end."""
    world = build(spec, seed)
    search = Attribution(world.problem, settings).run()
    try:
        wants = next(search)
        while True:
            wants = search.send(world.answer(wants))
    except StopIteration as done:
        finding: Finding = done.value
    return score(world, finding)


def score(world: World, finding: Finding) -> Score:
    rule = world.rule
    planted = set() if rule.ignores else causes(rule)
    needed = set() if rule.ignores else planted | set(rule.required)
    claimed = [set(claim.leaves) for claim in finding.claims]
    drops = [claim for claim in finding.claims if set(claim.leaves) <= needed]
    truth = rule.rate - rule.without
    wanted = [(set(group.members), len(group.members) - group.need + 1) for group in rule.groups]
    if rule.masked:
        wanted.append(({rule.masked[0]}, 1))
    return Score(
        exact=bool(wanted) and all(any(c <= members and len(c) == size for c in claimed) for members, size in wanted),
        headline=bool(claimed) and bool(claimed[0] & planted),
        required=sum({leaf} in claimed for leaf in rule.required) / len(rule.required) if rule.required else None,
        false=any(not claim & needed for claim in claimed),
        covered=sum(claim.low <= truth <= claim.high for claim in drops) / len(drops) if drops else None,
        status=finding.status,
        calls=world.calls,
        contexts=world.contexts,
        waves=world.waves,
    )
