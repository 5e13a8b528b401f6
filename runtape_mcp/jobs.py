"""Investigations that outlive the call that started them.

A job belongs to the server's lifespan. A call starts it or joins it, waits for a while and reads how far it is; when
the call ends, for whatever reason, the job goes on. It stops spending when nobody has asked for it for a while, when it
reaches its limit, or when it is told to. The same question always is the same job, so nothing is paid twice: within
this process because the job is found again, in the next because its replies are in the cache.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, TypeAlias

import anyio
import anyio.abc

from runtape.errors import RuntapeError
from runtape.report.results import Progress

from .spending import Purse
from .work import Brake, Ended, Meter, Report, Stretch, Work

log = logging.getLogger(__name__)

Status: TypeAlias = Literal["running", "paused", "done", "failed", "stopped"]
Pause: TypeAlias = Literal["nobody asked", "job limit", "process limit", "money limit"]
"""Why a paused job does not spend."""

KEPT = 100
"""Jobs that stay known; a forgotten one is answered again from the reply cache."""


@dataclass(slots=True)
class Job:
    """One investigation and how far it is."""

    id: str
    verb: str
    work: Work
    status: Status = "paused"
    pause: Pause | None = None
    limit: int = 0
    """Model calls it may cost in all."""
    calls: int = 0
    """Model calls paid for: all of this process, and of others those whose answers are in the cache."""
    planned: int = 0
    kept: int = 0
    """Replies that other questions paid for and this one uses; 0 for a job that goes on, as they are in `calls`."""
    seconds_left: float | None = None
    message: str = "starting"
    """What is being done; no recorded text."""
    report: Report | None = None
    """What is known so far, or the result."""
    expected: int = 0
    """The last estimate of `planned` that was more than what was paid."""
    error: RuntapeError | None = None
    """Why the job failed; None with status `failed` is a fault of this program, which the log tells."""
    consent: bool = False
    """The user agreed to more than the usual number of calls."""
    asked: float = 0.0
    """When somebody last asked."""
    waiting: int = 0
    """Calls that wait for it now."""
    active: bool = False
    """A task works on it, if only to finish calls in flight."""
    again: bool = False
    """Asked for while the last stretch was winding down."""
    brake: Brake = field(default_factory=Brake)
    changed: anyio.Event = field(default_factory=anyio.Event)

    def tell(self) -> None:
        """Wakes everyone who waits for news."""
        self.changed.set()
        self.changed = anyio.Event()


class Jobs:
    """Every job of one server process."""

    def __init__(
        self, group: anyio.abc.TaskGroup, purse: Purse, lease: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._group = group
        self._purse = purse
        self._lease = lease
        self._clock = clock
        self._jobs: dict[str, Job] = {}
        self._spent: Counter[str] = Counter()
        """Model calls by job; kept of forgotten jobs too, so that a limit holds however often a question comes back."""

    def find(self, job_id: str) -> Job | None:
        """The job of that id; None when this process knows none."""
        return self._jobs.get(job_id)

    def ask(self, job_id: str, verb: str, work: Work, *, limit: int, consent: bool) -> Job:
        """The job of this id, at work unless it is done.

        Args:
            job_id: Its name, the same for the same question.
            verb: The tool that asks.
            work: What it runs from now on.
            limit: Model calls it may cost in all, over every process.
            consent: Whether the user agreed to this limit.
        """
        job = self._jobs.pop(job_id, None) or Job(job_id, verb, work, calls=self._spent[job_id])
        self._jobs[job_id] = job
        self._forget()
        job.asked = self._clock()
        job.consent = job.consent or consent
        if job.status == "done":
            return job
        # A higher limit for a running job takes effect when the running stretch has used up its own.
        job.again = job.active and (job.status != "running" or limit > job.limit)
        job.limit = max(limit, job.limit) if job.status == "running" else limit
        job.status, job.pause, job.error = "running", None, None
        if not job.active:
            job.active, job.work, job.brake = True, work, Brake()
            self._group.start_soon(self._run, job)
        return job

    async def wait(self, job: Job, seconds: float, pulse: float, notify: Callable[[Job], Awaitable[None]]) -> None:
        """Returns when the job runs no more, or after `seconds`.

        Calls `notify` with every news, and at least every `pulse` seconds.
        """
        with self._interest(job), anyio.move_on_after(seconds):
            while job.status == "running":
                changed = job.changed
                await notify(job)
                with anyio.move_on_after(pulse):
                    await changed.wait()

    async def stop(self, job: Job, seconds: float) -> None:
        """Ends a job: no further model call starts. Waits at most `seconds` for the calls in flight."""
        if job.status == "done":
            return
        job.status, job.pause, job.again = "stopped", None, False
        job.brake.pull()
        job.tell()
        with anyio.move_on_after(seconds):
            while job.active:
                await job.changed.wait()

    @contextmanager
    def _interest(self, job: Job) -> Generator[None]:
        job.waiting += 1
        try:
            yield
        finally:
            job.waiting -= 1
            job.asked = self._clock()

    def _forget(self) -> None:
        idle = [job.id for job in self._jobs.values() if not job.active]
        for job_id in idle[: max(0, len(self._jobs) - KEPT)]:
            del self._jobs[job_id]

    async def _run(self, job: Job) -> None:
        try:
            while True:
                job.again = False
                await self._stretch(job)
                if not job.again or job.status in ("done", "failed"):
                    return
                job.brake = Brake()
        finally:
            job.active = False
            job.tell()

    async def _stretch(self, job: Job) -> None:
        meter = Meter()
        before, wanted, held = job.calls, 0, 0

        async def run() -> Ended:
            nonlocal before, wanted, held
            before = job.calls = max(before, await job.work.paid(job.id))
            wanted = max(0, job.limit - before)
            held = self._purse.take(wanted)
            hear = partial(_hear, job, before, meter)
            return await job.work.run(Stretch(job.id, held, job.brake, meter, hear))

        ended: Ended | RuntapeError | None = None
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._watch, job)
                ended = await _attempt(job, run)
                group.cancel_scope.cancel()
        finally:
            self._purse.give_back(held - meter.spent)
            self._spent[job.id] = job.calls = before + meter.spent
        _settle(job, ended, short=held < wanted)
        job.tell()

    async def _watch(self, job: Job) -> None:
        """Pulls the brake once nobody has asked for as long as the lease."""
        left = self._lease
        while left > 0:
            await anyio.sleep(left)
            left = self._lease if job.waiting else job.asked + self._lease - self._clock()
        if job.status == "running":
            job.status, job.pause = "paused", "nobody asked"
        job.brake.pull()
        job.tell()


async def _attempt(job: Job, run: Callable[[], Awaitable[Ended]]) -> Ended | RuntapeError | None:
    """How a stretch ended; None when a fault of this program ended it."""
    try:
        return await run()
    except RuntapeError as exc:
        return exc
    except Exception:
        # The last line of defence: a fault in one job must not end the others.
        log.exception("job %s failed", job.id)
        return None


def _settle(job: Job, ended: Ended | RuntapeError | None, *, short: bool) -> None:
    job.seconds_left = None
    if isinstance(ended, Ended):
        job.report = ended.report
        ended = ended.by if isinstance(ended.by, RuntapeError) else ended
    match ended:
        case Ended(by=None):
            job.status, job.pause = "done", None
        case Ended(by="limit" | "money" as limit) if job.status == "running" and not job.again:
            job.planned = max(job.planned, job.expected)
            of_calls: Pause = "process limit" if short else "job limit"
            job.status, job.pause = "paused", "money limit" if limit == "money" else of_calls
        case Ended():
            # Whoever pulled the brake, or asked again meanwhile, has said what the job is now.
            pass
        case error:
            job.status, job.pause, job.error = "failed", None, error


def _hear(job: Job, before: int, meter: Meter, progress: Progress) -> None:
    job.calls = before + meter.spent
    job.planned = job.calls + max(0, progress.planned - progress.calls)
    job.kept = 0 if before else progress.reused
    job.seconds_left = progress.seconds_left
    job.message = progress.message
    job.expected = job.planned if job.planned > job.calls else job.expected
    job.report = progress.partial or job.report
    job.tell()
