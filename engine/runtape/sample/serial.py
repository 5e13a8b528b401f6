"""Whether a server works on one request at a time.

Many local servers do, and queue the rest: sending them more gains nothing, and what waits in the queue comes near its
deadline. It shows in the first wave of requests, since one of them went alone before.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from ..said import Said

WORTH = 0.2
"""Seconds of a request below which it makes no difference."""

WAVE = 6
"""Requests sent together that are enough to tell."""

LIKE_A_QUEUE = 0.7
"""Of the median time that a queue would give, from which on it is one."""

NOTE = Said("The model's server works on one request at a time, so it is sent one at a time.")


class Pacing:
    """What the times of requests to one server tell."""

    def __init__(self) -> None:
        self._alone: float | None = None

    def queues(self, seconds: Sequence[float]) -> bool:
        """Take in a wave of answered requests, by the seconds that each took; True when they stood in a queue."""
        if len(seconds) == 1 and self._alone is None:
            self._alone = seconds[0]
        if self._alone is None or self._alone < WORTH or len(seconds) < WAVE:
            return False
        # The i-th of a queue of k takes i times as long as one alone; the median is (k + 1) / 2 times that.
        return median(seconds) >= LIKE_A_QUEUE * self._alone * (len(seconds) + 1) / 2
