"""A tally read as an estimate with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

Z95 = 1.959963984540054
"""Normal quantile of a two-sided 95% interval."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95% interval; for a rate within 0-1, for a difference of rates within -1 to 1."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Drop:
    """How much lower one rate is than another, with its 95% interval."""

    drop: float
    low: float
    high: float


def wilson(kept: int, n: int) -> Interval:
    """Wilson's 95% interval for a rate; the whole of 0-1 when there is no sample.

    Raises:
        ValueError: `kept` is negative or larger than `n`.
    """
    if not 0 <= kept <= n:
        msg = f"{kept} of {n} is not a rate"
        raise ValueError(msg)
    if n == 0:
        return Interval(0.0, 1.0)
    rate, square = kept / n, Z95 * Z95
    middle = (rate + square / (2 * n)) / (1 + square / n)
    half = Z95 * sqrt(rate * (1 - rate) / n + square / (4 * n * n)) / (1 + square / n)
    # The ends are exact where every sample agrees; rounding would put them a hair inside.
    return Interval(0.0 if kept == 0 else max(0.0, middle - half), 1.0 if kept == n else min(1.0, middle + half))


def newcombe(base_kept: int, base_n: int, kept: int, n: int) -> Drop:
    """How far the rate falls from `base_kept / base_n` to `kept / n`, with Newcombe's 95% interval.

    The interval joins the two Wilson intervals (Newcombe 1998, method 10), so it behaves at 0% and 100%.

    Raises:
        ValueError: a group is empty, or a count does not fit its group.
    """
    if not n or not base_n:
        msg = "a drop needs samples on both sides"
        raise ValueError(msg)
    base, rate = base_kept / base_n, kept / n
    above, below = wilson(base_kept, base_n), wilson(kept, n)
    drop = base - rate
    low = drop - sqrt((base - above.low) ** 2 + (below.high - rate) ** 2)
    high = drop + sqrt((above.high - base) ** 2 + (rate - below.low) ** 2)
    return Drop(drop, max(-1.0, low), min(1.0, high))
