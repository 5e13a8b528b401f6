"""How a search asks for samples.

A search is a generator: it yields batches of wants, receives one tally per want in the same order, and returns its
result. It does no I/O, reads no clock and needs no event loop, so the same search runs under a simulated model in a
plain loop and under the async sampler.

Wants are cumulative: `Want(v, 5, s)` means "have at least 5 samples of v in series s", so asking again is free and a
killed search resumes by being run again over the reply cache. A series is a stream of independent samples. Samples of
one series never answer a want of another: that keeps a confirming rerun fresh.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from ..stats.tally import Tally

V = TypeVar("V", bound=Hashable)
T = TypeVar("T")

POOL = "pool"
"""Series of the samples that only nominate; no claim is ever decided by them."""


@dataclass(frozen=True, slots=True)
class Want(Generic[V]):
    """Have at least `n` counting samples of `variant` in `series`."""

    variant: V
    n: int
    series: str = POOL
    ahead: int = 0
    """Samples that the next batch will most likely want; whoever draws may draw them with these, in one wait. The tally
    is of `n` all the same, so that a search learns nothing early."""


Search: TypeAlias = Generator[Sequence[Want[V]], Sequence[Tally], T]
"""Yields batches of wants, receives their tallies, returns T. A batch is the unit of concurrency."""
