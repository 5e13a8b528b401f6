"""How a run that did not come to its end is told."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import BudgetSpent, ModelFailed
from ..report.results import StoppedBy

GO_ON = "Everything paid for is kept: run it again to go on from here."


@dataclass(frozen=True, slots=True)
class Ending:
    """What ended a run early."""

    by: StoppedBy
    text: str
    """The reason, and what to do."""


def ending_of(error: BaseException) -> Ending:
    """The ending that an exception stands for; any other than the two of the sampler is a cancellation."""
    match error:
        case BudgetSpent():
            return Ending("budget", str(error))
        case ModelFailed():
            return Ending("model", f"{error} {GO_ON}")
        case _:
            return Ending("cancelled", f"It was cancelled. {GO_ON}")
