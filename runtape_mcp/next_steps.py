"""What to do next, in words of ours: the last line of every answer."""

from __future__ import annotations

from runtape.report.results import Distribution, FixReport, WhyReport

from .consent import ceiling
from .failures import advice
from .fence import Fence
from .jobs import Job
from .settings import Settings


def next_step(job: Job, fence: Fence, settings: Settings, *, wanted: int | None, asks: bool) -> str:
    """The next step for whoever reads the answer.

    Args:
        job: How far it is.
        fence: The fence of the answer.
        settings: The launch.
        wanted: The `max_calls` argument.
        asks: The client can put questions to the user.
    """
    again = f"Call {job.verb} again with the same arguments: it goes on, and nothing is paid for twice."
    match job.status:
        case "running":
            return again
        case "stopped":
            return f"It was stopped and pays for nothing more. {again}"
        case "failed":
            if job.error is None:
                return f"A fault in runtape-mcp ended it; its log has the details. {again}"
            return f"{advice(job.error)} Details: {fence.inline(str(job.error), 300)}"
        case "paused":
            return _paused(job, settings, again, wanted=wanted, asks=asks)
        case "done":
            return _done(job, fence)


def _paused(job: Job, settings: Settings, again: str, *, wanted: int | None, asks: bool) -> str:
    most = settings.max_calls
    if job.pause == "nobody asked":
        return again
    if job.pause == "process limit":
        return (
            f"Paused: this server has spent the {settings.process_calls} model calls that one process may spend. What "
            "is proven so far is above. The user can start the server anew; nothing is paid for twice."
        )
    if job.limit >= most:
        return (
            f"Paused at {job.calls} model calls, the most that this launch allows for one job. What is proven so far "
            "is above. Only the user can allow more, with --max-calls at the launch of runtape-mcp."
        )
    if asks and ceiling(wanted, settings) > job.limit:
        return f"Paused at {job.calls} model calls. {again} The user is asked first whether it may cost more."
    return (
        f"Paused at {job.calls} model calls. When the user agrees to more, call {job.verb} again with the same "
        f"arguments and max_calls={most}; nothing is paid for twice."
    )


def _done(job: Job, fence: Fence) -> str:
    match job.report:
        case WhyReport():
            return _after_why(job.report)
        case FixReport(best=best) if best:
            return (
                f"Call write_test with the same trace and event, fix={fence.words(best, 60)!r} and a path such as "
                "tests/test_regression.py. The change itself is a proposal: show it to the user, who decides."
            )
        case FixReport():
            return (
                "No candidate passed. Propose one of your own in candidates and call fix again; what was measured is "
                "not paid for twice."
            )
        case Distribution() | None:
            return "Call why with the same trace and event to find the text that the decision depends on."


def _after_why(report: WhyReport) -> str:
    status = report.finding.status
    if report.causes:
        events = [event for event in report.causes[0].events if event is not None]
        where = f" show_event with event={events[0]} shows the text in place." if events else ""
        return f"Call fix with the same trace and event to measure changes against this decision.{where}"
    if status in ("not reproducible", "too rare"):
        return (
            "The decision is not made often enough to explain it. Call rerun to see what the agent does instead, then "
            "why with tool or match for what it does do."
        )
    if status == "nothing read matters":
        return (
            "Nothing the agent read matters. Call rerun with another system prompt to see whether the prompt decides."
        )
    if report.finding.held:
        return 'Call why again with depth="full", which examines the system prompt and the task too.'
    return "Name a text you suspect in suspects and call why again; what was measured is not paid for twice."
