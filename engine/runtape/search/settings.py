"""How thorough a search is, and how it spends samples on pools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

Depth = Literal["quick", "full"]
"""quick: stop at the first proven cause that makes the agent act differently. full: every needed leaf."""

Sweep = Literal["contiguous", "scattered", "both", "pinned"]
"""Which pools. contiguous: a partition in context order. scattered: one in random order. both: the two in one round.
pinned: a partition of the system prompt and the task."""

Profile = Literal["calls", "contexts", "waves"]
"""What is dear. calls: every sample is a request of its own. contexts: the samples of one context share a request.
waves: a round takes hours, whatever is asked in it."""


@dataclass(frozen=True, slots=True)
class Pooling:
    """How many samples and pools a round of pooling uses."""

    samples: int
    """Samples per pool."""
    first: int
    """Pools in a first partition."""
    later: int
    """Pools per round after that."""


POOLING: Mapping[Profile, Pooling] = MappingProxyType(
    {"calls": Pooling(1, 6, 6), "contexts": Pooling(2, 4, 4), "waves": Pooling(2, 4, 4)}
)
FAST_POOLS = 12
PRECISE_RERUNS = 20
"""Narrows the interval of a clean effect from 52 to 100 points to 77 to 100."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Options of one search.

    Raises:
        ValueError: the budget is negative.
    """

    depth: Depth = "quick"
    budget: int = 400
    """Most samples that the search asks for, cached or not."""
    profile: Profile = "calls"
    runs: int = 0
    """Least samples of the context as recorded and without the leading cause, once everything is decided."""
    precise: bool = False
    """At least 20 of both: narrower intervals for 25 to 35 more samples."""
    fast: bool = False
    """Fewer rounds one after another for more samples: both first partitions at once, more pools a round, larger first
    looks."""

    def __post_init__(self) -> None:
        if self.budget < 0:
            msg = f"a budget of {self.budget} samples is negative; give 0 or more"
            raise ValueError(msg)

    @property
    def pooling(self) -> Pooling:
        """The pool sizes that the profile and the haste stand for."""
        usual = POOLING[self.profile]
        return replace(usual, later=FAST_POOLS) if self.fast else usual

    @property
    def sweeps(self) -> tuple[Sweep, ...]:
        """The partitions that a search begins with, one a round."""
        return ("both",) if self.fast or self.profile != "calls" else ("contiguous", "scattered")

    @property
    def reruns(self) -> int:
        """Least samples of the context as recorded and without the leading cause."""
        return max(self.runs, PRECISE_RERUNS if self.precise else 0)
