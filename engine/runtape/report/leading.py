"""The cause that a report is about."""

from __future__ import annotations

from .results import Cause, WhyReport


def leading_cause(report: WhyReport) -> Cause | None:
    """The cause that the headline is about; None when none was proven."""
    return next((cause for cause in report.causes if cause.texts == report.headline), None)
