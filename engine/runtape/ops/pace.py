"""How fast a run goes, told to whoever waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..report.results import Distribution, FixReport, Progress, WhyReport
from .spent import Spent

OnProgress = Callable[[Progress], None]


class Pace:
    """Turns what was done so far into progress, and hands it on."""

    def __init__(self, on_progress: OnProgress | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._on_progress = on_progress
        self._clock = clock
        self._started = clock()
        self._expected = 0
        self._message = "starting"
        self._partial: WhyReport | FixReport | Distribution | None = None

    def know(self, expected: int, message: str, partial: WhyReport | FixReport | Distribution | None) -> None:
        """Take in what a round has shown: the samples expected in all, in words of ours, and what is known."""
        self._expected, self._message, self._partial = expected, message, partial

    def tell(self, spent: Spent) -> None:
        """Report how far the run is."""
        if self._on_progress is None:
            return
        left = max(0, self._expected - spent.calls - spent.reused)
        passed = self._clock() - self._started
        self._on_progress(
            Progress(
                calls=spent.calls,
                planned=spent.calls + left,
                seconds_left=passed / spent.calls * left if spent.calls else None,
                message=self._message,
                partial=self._partial,
            )
        )
