"""How a run that did not come to its end is told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from ..errors import KEPT, BudgetSpent, ModelFailed
from ..report.results import FixReport, StoppedBy, WhyReport
from ..said import Quoted, Said

R = TypeVar("R", WhyReport, FixReport)

GO_ON = f"Run it again to go on from here: {KEPT}"


@dataclass(frozen=True, slots=True)
class Ending:
    """What ended a run early."""

    by: StoppedBy
    text: str
    """The reason, and what to do."""


STOPPED = Ending("cancelled", Said(f"It was cancelled. {GO_ON}"))


def stopped(report: R) -> R:
    """The report, saying that it was stopped where it does not say why it ended early."""
    if report.stopped is not None:
        return report
    if isinstance(report, WhyReport):
        finding = replace(report.finding, status="stopped", unfinished="stopped")
        return replace(report, finding=finding, stopped=STOPPED.text, stopped_by=STOPPED.by)
    return replace(report, stopped=STOPPED.text, stopped_by=STOPPED.by)


def ending_of(error: BaseException) -> Ending:
    """The ending that an exception stands for; any other than the two of the sampler is a cancellation."""
    match error:
        case BudgetSpent():
            return Ending("budget", Said(str(error)))
        case ModelFailed():
            return Ending("model", Said(Quoted(str(error)), f" {GO_ON}"))
        case _:
            return STOPPED


def not_rerun(reason: str) -> Ending:
    """The ending of a run whose model was asked and gave no answer, or too few, that counts."""
    return Ending(
        "model",
        Said("The recorded call gives too few answers that count: ", Quoted(reason), ". Another model may answer it."),
    )
