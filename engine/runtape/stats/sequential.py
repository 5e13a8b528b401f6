"""Whether a rate is below a limit, asked after every sample and answered as soon as it can be.

Two tests run side by side over the same samples. One doubts that the rate is at least the limit, the other that it is
at most the limit; each multiplies the likelihood ratio of an alternative to the limit. Under what it doubts, such a
product is a supermartingale that starts at 1, so it ever reaches 1/error with a chance of at most `error` (Ville 1939;
the boundary of Wald's test that holds without his approximation). That is true of every number of samples and every
stopping rule, and for every rate on the doubted side: where the limit is the rate, in expectation each factor is 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import log, sqrt
from typing import Literal

RateAnswer = Literal["below", "not below", "open"]

ERROR = 0.05
"""Chance of each of the two wrong answers."""
GOOD = 5
"""A rate this many times smaller than the limit is what `below` is tuned to: a tenth of the limit is then found in 45
samples on average, a rate just under it hardly ever."""


@dataclass(frozen=True, slots=True)
class Chances:
    """What a test will say of a known rate."""

    below: float
    not_below: float
    open: float
    samples: float
    """Samples used on average."""


@dataclass(frozen=True, slots=True)
class RateTest:
    """A test of a rate against a limit."""

    limit: float
    error: float = ERROR

    def __post_init__(self) -> None:
        if not 0 < self.limit < 1 or not 0 < self.error < 1:
            msg = f"a limit of {self.limit} and an error rate of {self.error} are no rates between 0 and 1"
            raise ValueError(msg)

    def answer(self, hits: Iterable[bool]) -> RateAnswer:
        """The answer that some samples, in their order, have led to; later ones do not change it."""
        seen = n = 0
        for hit in hits:
            seen, n = seen + hit, n + 1
            answer = self._after(seen, n)
            if answer != "open":
                return answer
        return "open"

    @property
    def shortest(self) -> int:
        """Samples without a hit after which the rate is below the limit."""
        n = 1
        while self._after(0, n) == "open":
            n += 1
        return n

    def chances(self, rate: float, most: int) -> Chances:
        """What the test says of this rate within `most` samples: exact, by following every number of hits."""
        below = not_below = samples = 0.0
        going = {0: 1.0}
        for n in range(1, most + 1):
            step: dict[int, float] = {}
            for hits, share in going.items():
                for more, chance in ((0, 1 - rate), (1, rate)):
                    step[hits + more] = step.get(hits + more, 0.0) + share * chance
            going = {}
            for hits, share in step.items():
                match self._after(hits, n):
                    case "below":
                        below, samples = below + share, samples + share * n
                    case "not below":
                        not_below, samples = not_below + share, samples + share * n
                    case "open":
                        going[hits] = share
        left = sum(going.values())
        return Chances(below, not_below, left, samples + left * most)

    def _after(self, hits: int, n: int) -> RateAnswer:
        needed = -log(self.error)
        if self._evidence(self.limit / GOOD, hits, n) >= needed:
            return "below"
        if self._evidence(sqrt(self.limit), hits, n) >= needed:
            return "not below"
        return "open"

    def _evidence(self, other: float, hits: int, n: int) -> float:
        """The logarithm of the likelihood ratio of another rate to the limit."""
        return hits * log(other / self.limit) + (n - hits) * log((1 - other) / (1 - self.limit))
