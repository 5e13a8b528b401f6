"""Answers as prose, for people and for clients that show text only."""

from __future__ import annotations

from runtape.report.document import Document

from .documents import to_fenced
from .fence import Fence
from .jobs import Job

LIMIT = 2700
"""Characters of one answer's prose; with the structured content under 8,000."""


def prose(job: Job, page: Document | None, fence: Fence, next_step: str) -> str:
    """Where a job is, what it found, what to do next."""
    place = f"runtape://report/{job.id}"
    left = f", about {job.seconds_left:.0f} s left" if job.seconds_left is not None else ""
    planned = max(job.planned, job.calls)
    head = f"{job.verb} is {job.status}: {job.calls} of about {planned} model calls{left}. Job {job.id}."
    parts = [head]
    if page is not None:
        room = LIMIT - len(head) - len(next_step) - len(fence.warning) - 20
        parts += [fence.warning, to_fenced(page, fence, limit=room, elsewhere=place)]
    parts.append(f"Next: {next_step}")
    return "\n\n".join(parts)
