"""How fast a run goes, told to whoever waits for it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from ..report.results import Distribution, FixReport, Progress, WhyReport
from .spent import Spent

OnProgress = Callable[[Progress], None]


PLANNED = "planned, nothing is sent yet"
ROUNDS = 6
"""Waits, one after another, of a usual search."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What the recorded call lets expect of each rerun."""

    seconds: float | None = None
    usd: float | None = None
    """None when no price is known or was asked for."""
    at_once: int = 1
    waves: int | None = None
    """Batches one after another; None where requests are sent one by one."""
    verdicts: float = 0.0
    """Model calls that judge each reply."""


class Pace:
    """Turns what was done so far into progress, and hands it on.

    While kept replies answer everything nothing is told: a run that goes on from them is soon where it was. How far it
    is then, is the plan.
    """

    def __init__(self, on_progress: OnProgress | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._on_progress = on_progress
        self._clock = clock
        self._started = clock()
        self._expected = 0
        self._before = Expected()
        self._message = PLANNED
        self._begun = False
        self._partial: WhyReport | FixReport | Distribution | None = None

    def know(self, expected: int, message: str, partial: WhyReport | FixReport | Distribution | None) -> None:
        """Take in what a round has shown: the samples expected in all, in words of ours, and what is known."""
        self._expected, self._message, self._partial = expected, message, partial

    def expect(self, before: Expected) -> None:
        """Take in what is expected of each call, until the first ones tell."""
        self._before = before

    def begin(self, spent: Spent) -> None:
        """Tell the plan, unless it was told: what was `spent` is all that is kept, or the run is over."""
        if not self._begun:
            self._begun = True
            self.tell(spent)

    def tell(self, spent: Spent, waiting: str | None = None) -> None:
        """Report how far the run is once it has begun; `waiting` is the batch that is waited for, in a sentence."""
        if self._on_progress is None or not self._begun:
            return
        left = self._left(spent)
        self._on_progress(
            Progress(
                calls=spent.calls,
                planned=spent.calls + left,
                seconds_left=self._seconds(spent, left),
                usd=spent.used.usd if self._before.usd is not None else None,
                planned_usd=self._usd(spent, left),
                message=self._message,
                partial=self._partial,
                waves=None if self._before.waves is None else min(self._before.waves, left + spent.calls),
                waiting=waiting,
                reused=spent.reused,
            )
        )

    def _left(self, spent: Spent) -> int:
        """Model calls to come, those that judge replies included."""
        samples = spent.calls + spent.reused - spent.verdicts
        each = spent.verdicts / samples if samples else self._before.verdicts
        return round(max(0, self._expected - samples) * (1 + each))

    def _seconds(self, spent: Spent, left: int) -> float | None:
        if self._before.waves is not None:
            return None  # nobody knows how long a batch takes
        if spent.calls:
            return (self._clock() - self._started) / spent.calls * left
        seconds = self._before.seconds
        return None if seconds is None else seconds * max(min(ROUNDS, left), math.ceil(left / self._before.at_once))

    def _usd(self, spent: Spent, left: int) -> float | None:
        if self._before.usd is None:
            return None
        each = spent.used.usd / spent.calls if spent.calls else self._before.usd
        return spent.used.usd + each * left
