"""The report of a job as a document."""

from __future__ import annotations

from runtape.report.document import Document
from runtape.report.results import Distribution, FixReport, WhyReport

from .jobs import Job


def page_of(job: Job) -> Document | None:
    """What a job found so far, as blocks; None when it found nothing yet."""
    # The pages use statistics, which are loaded by the time there is a report.
    match job.report:
        case WhyReport() as report:
            from runtape.report.why_page import why_page

            return why_page(report)
        case FixReport() as report:
            from runtape.report.fix_page import fix_page

            return fix_page(report)
        case Distribution() as report:
            from runtape.report.rerun_page import rerun_page

            return rerun_page(report)
        case None:
            return None
