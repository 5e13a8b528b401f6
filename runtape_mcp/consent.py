"""The user's word before an investigation gets expensive."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import AcceptedElicitation, Context, Elicit, ElicitationResult
from pydantic import BaseModel, Field

from .jobs import Job
from .settings import Settings


class Spend(BaseModel):
    """What the user is asked."""

    go_on: bool = Field(description="Pay for more model calls in this investigation")


def can_ask(context: Context[Any, Any]) -> bool:
    """Whether this client can put a question to the user."""
    able = context.client_capabilities
    return bool(able and able.elicitation and (able.elicitation.form is not None or able.elicitation.url is None))


def wants_more(job: Job | None, wanted: int | None, settings: Settings) -> bool:
    """Whether a job came to the number of calls past which the user has to agree."""
    return (
        job is not None
        and job.status == "paused"
        and job.pause == "job limit"
        and not job.consent
        and job.calls >= settings.ask_above
        and ceiling(wanted, settings) > settings.ask_above
    )


def ceiling(wanted: int | None, settings: Settings) -> int:
    """Most calls of one job under an argument and the launch; the launch wins."""
    return min(wanted or settings.max_calls, settings.max_calls)


def question(job: Job, wanted: int | None, settings: Settings) -> Elicit[Spend]:
    """The question to the user; constant while the job is paused."""
    most = ceiling(wanted, settings)
    return Elicit(f"This {job.verb} has used {job.calls} model calls and needs more. Allow up to {most} in all?", Spend)


def agreed(spend: ElicitationResult[Spend]) -> bool:
    """Whether the user said yes."""
    return isinstance(spend, AcceptedElicitation) and spend.data.go_on


def limit(job: Job | None, wanted: int | None, settings: Settings, *, yes: bool, asks: bool) -> tuple[int, bool]:
    """How many calls a job may cost now, and whether the user agreed to that.

    Args:
        job: The job when it is known already.
        wanted: The `max_calls` argument.
        settings: The launch.
        yes: The user agreed just now.
        asks: The client can ask. Where it cannot, a number that the launch or the call names stands for the user's
            word.
    """
    most = ceiling(wanted, settings)
    named = not asks and (settings.max_calls_named or (wanted is not None and wanted > settings.ask_above))
    consent = yes or named or (job is not None and job.consent)
    return (most if consent else min(most, settings.ask_above)), consent
