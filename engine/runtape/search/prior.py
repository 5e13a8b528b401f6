"""How likely each unit is to be needed, before any rerun."""

from __future__ import annotations

from math import exp

from .units import Units

EXPECTED_NEEDED = 2.5
"""Needed units that a context is expected to hold. Agents usually need a rule, a task, an item of data."""
UNIFORM_SHARE = 0.5
"""Part of the prior that ignores wording, so that a useless score costs a few samples and no more."""
LOWEST_SCORE, HIGHEST_SCORE = -2.0, 3.0
PINNED_WEIGHT = 2.0
"""The system prompt and the user's task are needed more often than a sentence that was merely read."""
PINNED_AT_LEAST = 0.3
"""Needed units expected among the pinned ones however long the rest is: a rule and a task do not get less likely to
matter because the agent read more."""
FLOOR, CEILING = 1e-6, 0.3
SUSPECT_PRIOR = 0.5
"""Chance that a single named suspect is right: one flipped rerun then suffices to nominate it."""
SUSPECTS_TOGETHER = 0.9
"""Chance that one of several suspects is right, shared among them."""


def prior(units: Units) -> tuple[float, ...]:
    """The chance, 0-1, that each unit is needed."""
    count = len(units)
    if not count:
        return ()
    by_wording = [exp(min(max(score, LOWEST_SCORE), HIGHEST_SCORE)) for score in units.scores]
    total = sum(by_wording)
    weights = [
        (PINNED_WEIGHT if unit in units.pinned else 1.0)
        * ((1 - UNIFORM_SHARE) * weight / total + UNIFORM_SHARE / count)
        for unit, weight in enumerate(by_wording)
    ]
    scale = EXPECTED_NEEDED / sum(weights)
    pinned = scale * sum(weights[unit] for unit in units.pinned)
    lift = max(1.0, PINNED_AT_LEAST / pinned) if pinned else 1.0
    chances = [
        min(max(weight * scale * (lift if unit in units.pinned else 1.0), FLOOR), CEILING)
        for unit, weight in enumerate(weights)
    ]
    if units.suspects:
        named = min(SUSPECT_PRIOR, SUSPECTS_TOGETHER / len(units.suspects))
        for unit in units.suspects:
            chances[unit] = max(chances[unit], named)
    return tuple(chances)
