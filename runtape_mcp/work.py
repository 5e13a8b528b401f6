"""What a job runs: a verb with its arguments bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from runtape.errors import RuntapeError
from runtape.report.results import Distribution, FixReport, Progress, WhyReport

Report: TypeAlias = WhyReport | FixReport | Distribution


class Brake:
    """Tells work under way that no further model call may start."""

    def __init__(self) -> None:
        self.pulled = False
        """Whether it was pulled; it never comes loose."""
        self._actions: list[Callable[[], None]] = []

    def then(self, act: Callable[[], None]) -> None:
        """Have `act` called when the brake is pulled; at once when it was."""
        if self.pulled:
            act()
        else:
            self._actions.append(act)

    def pull(self) -> None:
        """No further model call starts."""
        self.pulled = True
        for act in self._actions:
            act()
        self._actions.clear()


class Meter:
    """What a stretch of work has cost so far; it tells that also when the work fails."""

    def __init__(self) -> None:
        self._read: Callable[[], int] = lambda: 0

    def reads(self, spent: Callable[[], int]) -> None:
        """Has the meter read `spent`: model calls paid for, whatever came of them."""
        self._read = spent

    @property
    def spent(self) -> int:
        """Model calls paid for in this stretch: also those answered with an error, unreadably or not at all."""
        return self._read()


@dataclass(frozen=True, slots=True)
class Stretch:
    """What a verb is given for one stretch of work."""

    job: str
    """Name under which the reply cache counts what was paid."""
    calls: int
    """Most model calls to pay for."""
    brake: Brake
    meter: Meter
    on_progress: Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a stretch of work ended."""

    report: Report
    by: Literal["limit", "money", "brake"] | RuntapeError | None = None
    """What ended it early: the calls it was given, the money of the process, the brake, or a failure that came after
    something was known."""


class Work(Protocol):
    """A verb with its arguments bound; it picks up its own earlier work from the reply cache."""

    async def run(self, stretch: Stretch) -> Ended:
        """The result, or as much of it as the stretch allowed.

        Once the brake is pulled no further model call starts; those in flight are finished and kept.

        Raises:
            RuntapeError: there is nothing to report.
        """
        ...

    async def paid(self, job: str) -> int:
        """Answers that are kept under this name, by any process: the least that the job can have cost."""
        ...
