"""The exact one-sided test of one rate against another."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import comb


@lru_cache(maxsize=1 << 16)
def fisher_less(kept: int, n: int, base_kept: int, base_n: int) -> float:
    """Chance of so few repeats among `n` samples if both groups of samples had the same rate.

    Fisher's exact test, one-sided, in integer arithmetic: the hypergeometric chance of at most `kept` repeats in the
    group of `n`, given that both groups together hold `kept + base_kept` of them.

    Args:
        kept: Repeats in the group that is suspected to be lower.
        n: Samples of that group.
        base_kept: Repeats in the group it is compared with.
        base_n: Samples of that group.

    Returns:
        p in (0, 1]; 1.0 when either group is empty.

    Raises:
        ValueError: a count is negative or larger than its group.
    """
    if not (0 <= kept <= n and 0 <= base_kept <= base_n):
        msg = f"{kept} of {n} and {base_kept} of {base_n} are not counts of repeats"
        raise ValueError(msg)
    repeats = kept + base_kept
    as_low = sum(comb(n, low) * comb(base_n, repeats - low) for low in range(max(0, repeats - base_n), kept + 1))
    return float(Fraction(as_low, comb(n + base_n, repeats)))
