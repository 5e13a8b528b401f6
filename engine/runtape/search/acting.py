"""What the agent does without a cause: something else, or nothing."""

from __future__ import annotations

from ..stats.tally import Tally

DECISIVE_SHARE = 0.5


def acting_share(without: Tally) -> float:
    """Share of the flips in which the agent did something else rather than stop or ask, shrunk towards a half."""
    return (without.other + 0.25) / (without.flips + 0.5)


def acts(without: Tally) -> bool:
    """Whether the flips are mostly another action."""
    return acting_share(without) >= DECISIVE_SHARE


def is_mixed(without: Tally) -> bool:
    """Whether the agent did something else in some flips, and stopped or asked in others."""
    return 0 < without.other < without.flips


def is_tied(without: Tally) -> bool:
    """Whether it did either equally often."""
    return 2 * without.other == without.flips
