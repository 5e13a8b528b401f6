"""One call of a tool that works in slices: ask for the job, wait, hand back how far it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import anyio.to_thread
from mcp.server.mcpserver import Context, ElicitationResult
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult

from runtape.report.results import Distribution, FixReport, WhyReport
from runtape.text import shorten, visible

from . import consent
from .answers import result
from .consent import Spend
from .fence import Fence
from .identity import job_id
from .jobs import Job
from .next_steps import next_step
from .pages import page_of
from .prose import prose
from .schemas import JobAnswer
from .state import State
from .verbs import Question
from .work import Report

_HALF_STEP = 0.01
_MESSAGE = 160
"""Characters of a progress message; clients show one row."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question that is ready to be worked on."""

    id: str
    verb: str
    question: Question


async def prepare(state: State, verb: str, question: Question) -> Prepared:
    """The job that a question belongs to."""
    digest = await state.library.digest(question.decision.trace)
    arguments = asdict(question)
    # The event by number and by the same number as text are one event; the path says less than the content.
    arguments["decision"] |= {"trace": None, "event": str(question.decision.event)}
    name = await anyio.to_thread.run_sync(job_id, verb, digest, arguments, state.settings)
    return Prepared(name, verb, question)


async def attend(
    context: Context[State], prepared: Prepared, max_calls: int | None, spend: ElicitationResult[Spend]
) -> Job:
    """The job after at most one slice.

    Raises:
        RuntapeError: it failed, and nothing is known that could be shown instead.
        ToolError: the same, because of a fault of this program.
    """
    state = context.request_context.lifespan_context
    known = state.jobs.find(prepared.id)
    yes, asks = consent.agreed(spend), consent.can_ask(context)
    refused = asks and not yes and consent.wants_more(known, max_calls, state.settings)
    if known is not None and refused:
        return known
    limit, agreed = consent.limit(known, max_calls, state.settings, yes=yes, asks=asks)
    job = state.jobs.ask(prepared.id, prepared.verb, state.verbs.work(prepared.question), limit=limit, consent=agreed)
    meter = _Meter(context)
    seconds = state.settings.seconds_for(_client(context))
    await state.jobs.wait(job, seconds, state.settings.pulse, meter.show)
    if job.status == "failed" and not _knows_something(job.report):
        if job.error is not None:
            raise job.error
        raise ToolError(
            f"{job.verb} failed because of a fault in runtape-mcp; its log on standard error has the details."
        )
    return job


def _knows_something(report: Report | None) -> bool:
    match report:
        case WhyReport(base=(_, n)) | FixReport(base=(_, n)):
            return n > 0
        case Distribution() as seen:
            return seen.tally.n > 0
        case None:
            return False


class _Meter:
    """Progress of one call; the protocol wants every number to be higher than the one before."""

    def __init__(self, context: Context[State]) -> None:
        self._context = context
        self._last = -1.0

    async def show(self, job: Job) -> None:
        self._last = job.calls if job.calls > self._last else self._last + _HALF_STEP
        if not job.planned:
            await self._context.report_progress(self._last, None, "starting")
            return
        left = f", about {job.seconds_left:.0f} s left" if job.seconds_left is not None else ""
        beside = f" beside {job.kept} kept replies" if job.kept else ""
        message = f"{job.calls} of about {job.planned} model calls{beside}{left}: {visible(job.message)}"
        await self._context.report_progress(self._last, max(job.planned, self._last), shorten(message, _MESSAGE))


def _client(context: Context[Any, Any]) -> str:
    params = context.session.client_params
    return params.client_info.name if params else ""


async def answered(
    context: Context[State],
    prepared: Prepared,
    max_calls: int | None,
    spend: ElicitationResult[Spend],
    answer_of: Callable[[Job, Fence, str], JobAnswer],
) -> CallToolResult:
    """How far the job is after at most one slice, in both forms; raises as `attend` does."""
    job = await attend(context, prepared, max_calls, spend)
    fence = Fence()
    settings = context.request_context.lifespan_context.settings
    step = next_step(job, prepared.question, fence, settings, wanted=max_calls, asks=consent.can_ask(context))
    answer = answer_of(job, fence, step)
    return result(answer, prose(job, page_of(job), fence, answer.next))
