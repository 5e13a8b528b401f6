"""Whether a change keeps what was done without it, asked after every few samples and answered as soon as it can be.

The likelihood ratio of "one in twenty is lost" to "three in ten are lost". If three in ten or more are lost, the
ratio is a supermartingale that starts at 1, so it ever reaches 1/error with a chance of at most `error`, whatever
decides that more samples are drawn (Ville 1939); the same holds the other way round (Wald 1945).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log
from typing import Literal

KeepAnswer = Literal["kept", "lost", "open"]

TOLERABLE, HARMFUL = 0.05, 0.3
"""Shares of the wanted decisions that a change may lose, and that it must not."""
WRONGLY_KEPT = 2e-4
"""Chance that a harmful change is said to keep them. The logarithm of its inverse is 28 kept samples without a loss."""
WRONGLY_LOST = 0.03
"""Chance that a change with a tolerable loss is said to lose them."""


@dataclass(frozen=True, slots=True)
class KeepTest:
    """A test of the share of samples that still do what was wanted."""

    usual: float = 1.0
    """Share that does it without the change, over 0 and at most 1. Losses are shares of this one."""

    def answer(self, kept: int, n: int) -> KeepAnswer:
        """What so many of `n` samples say."""
        evidence = self._evidence(kept, n)
        if evidence >= -log(WRONGLY_KEPT):
            return "kept"
        return "lost" if evidence <= log(WRONGLY_LOST) else "open"

    def needed(self, kept: int, n: int) -> int:
        """Further samples after which the answer is `kept` if none of them is a loss; 0 when it is already."""
        missing = -log(WRONGLY_KEPT) - self._evidence(kept, n)
        return max(0, ceil(missing / self._gain))

    @property
    def _gain(self) -> float:
        return log((1 - TOLERABLE) / (1 - HARMFUL))

    def _evidence(self, kept: int, n: int) -> float:
        """The logarithm of the likelihood ratio of a tolerable loss to a harmful one."""
        tolerable, harmful = ((1 - loss) * self.usual for loss in (TOLERABLE, HARMFUL))
        return kept * self._gain + (n - kept) * log((1 - tolerable) / (1 - harmful))
