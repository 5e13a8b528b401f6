"""Intervals and tests for two methods on the same cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, sqrt

import numpy as np

from runtape.stats.rates import wilson

DRAWS = 10_000
"""Resamples of a bootstrap interval."""
SEED = 0


@dataclass(frozen=True, slots=True)
class Difference:
    """How much larger a figure is by one method than by the other, with a 95% interval and a two-sided p."""

    value: float
    low: float
    high: float
    p: float


def paired_shares(first: Sequence[bool], second: Sequence[bool]) -> Difference:
    """The difference of two shares of the same cases, `first` minus `second`, between -1 and 1.

    The interval is Newcombe's for paired proportions (Statistics in Medicine 17:2635, 1998, method 10); the test is the
    exact one of McNemar.

    Raises:
        ValueError: there is no case, or the cases are not the same number.
    """
    pairs = list(zip(first, second, strict=True))
    n = len(pairs)
    if not n:
        raise ValueError("a difference needs cases")
    both, only_first = pairs.count((True, True)), pairs.count((True, False))
    only_second, neither = pairs.count((False, True)), pairs.count((False, False))
    a, b = wilson(both + only_first, n), wilson(both + only_second, n)
    rate_a, rate_b = (both + only_first) / n, (both + only_second) / n
    phi = _correlation(both, only_first, only_second, neither)
    down = _joined(rate_a - a.low, b.high - rate_b, phi)
    up = _joined(a.high - rate_a, rate_b - b.low, phi)
    value = rate_a - rate_b
    return Difference(value, max(-1.0, value - down), min(1.0, value + up), mcnemar(only_first, only_second))


def _joined(one: float, other: float, phi: float) -> float:
    return sqrt(max(0.0, one * one - 2 * phi * one * other + other * other))


def _correlation(both: int, only_first: int, only_second: int, neither: int) -> float:
    product = (both + only_first) * (only_second + neither) * (both + only_second) * (only_first + neither)
    if not product:
        return 0.0
    n = both + only_first + only_second + neither
    apart = both * neither - only_first * only_second
    # Newcombe's continuity correction, which only lowers a positive correlation.
    return (max(apart - n / 2, 0.0) if apart > 0 else apart) / sqrt(product)


def mcnemar(only_first: int, only_second: int) -> float:
    """Chance of so uneven a split of the cases that only one method got, if both were as good: exact, two-sided."""
    n, fewer = only_first + only_second, min(only_first, only_second)
    return min(1.0, 2 * sum(comb(n, k) for k in range(fewer + 1)) / 2**n)


def paired_means(first: Sequence[float], second: Sequence[float]) -> Difference:
    """The mean difference of two costs of the same cases, `first` minus `second`.

    The interval is the percentile bootstrap over cases, drawn from one seed; the test is Wilcoxon's signed-rank.

    Raises:
        ValueError: there is no case, or the cases are not the same number.
    """
    apart = np.array([one - other for one, other in zip(first, second, strict=True)], dtype=float)
    if not apart.size:
        raise ValueError("a difference needs cases")
    from scipy.stats import wilcoxon  # takes seconds to import, and only tables need it

    draws = np.random.default_rng(SEED).integers(0, apart.size, (DRAWS, apart.size))
    low, high = np.percentile(apart[draws].mean(axis=1), [2.5, 97.5])
    p = float(wilcoxon(apart).pvalue) if apart.any() else 1.0
    return Difference(float(apart.mean()), float(low), float(high), p)
