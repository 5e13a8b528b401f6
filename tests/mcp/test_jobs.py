from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from mcp_fakes import Ledger, Steps

from runtape.errors import BadModel, ModelFailed
from runtape_mcp.jobs import Job, Jobs
from runtape_mcp.spending import Purse

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def running(calls: int = 1000, lease: float = 60.0) -> AsyncIterator[Jobs]:
    async with anyio.create_task_group() as group:
        with anyio.fail_after(10):
            yield Jobs(group, Purse(calls), lease)
        group.cancel_scope.cancel()


async def silent(_: Job) -> None:
    pass


async def finished(jobs: Jobs, job: Job) -> Job:
    await jobs.wait(job, 10, 5, silent)
    return job


async def until(job: Job, status: str) -> None:
    while job.status != status:
        await job.changed.wait()


async def test_a_job_goes_on_when_the_call_that_started_it_is_cancelled() -> None:
    async with running() as jobs:
        work = Steps(5, gated=True)
        job = jobs.ask("why-1", "why", work, limit=100, consent=False)
        with anyio.CancelScope() as call:
            async with anyio.create_task_group() as group:
                group.start_soon(finished, jobs, job)
                await work.waiting.wait()
                call.cancel()
        for _ in range(5):
            work.gate.release()
        assert (await finished(jobs, jobs.ask("why-1", "why", work, limit=100, consent=False))).status == "done"
        assert (job.calls, work.started) == (5, 5)


async def test_the_same_question_is_the_same_job_and_a_finished_one_starts_nothing() -> None:
    async with running() as jobs:
        work = Steps(3)
        first = await finished(jobs, jobs.ask("why-1", "why", work, limit=100, consent=False))
        again = jobs.ask("why-1", "why", work, limit=100, consent=False)
        assert again is first
        assert again.status == "done"
        assert work.started == 3


async def test_a_wait_ends_with_its_slice_and_the_job_does_not() -> None:
    async with running() as jobs:
        work = Steps(2, gated=True)
        job = jobs.ask("why-1", "why", work, limit=100, consent=False)
        await jobs.wait(job, 0.01, 5, silent)
        assert job.status == "running"
        work.gate.release()
        work.gate.release()
        assert (await finished(jobs, job)).status == "done"


async def test_stop_lets_calls_in_flight_finish_and_starts_no_other() -> None:
    async with running() as jobs:
        work = Steps(5, gated=True)
        job = jobs.ask("why-1", "why", work, limit=100, consent=False)
        await work.waiting.wait()
        async with anyio.create_task_group() as group:
            group.start_soon(jobs.stop, job, 10)
            await until(job, "stopped")
            work.gate.release()
        assert (job.status, job.calls, work.started) == ("stopped", 1, 1)


async def test_a_stopped_job_goes_on_when_it_is_asked_for_again() -> None:
    async with running() as jobs:
        work = Steps(2, gated=True)
        job = jobs.ask("why-1", "why", work, limit=100, consent=False)
        await work.waiting.wait()
        await jobs.stop(job, 0)
        assert jobs.ask("why-1", "why", work, limit=100, consent=False).status == "running"
        work.gate.release()
        work.gate.release()
        assert (await finished(jobs, job)).status == "done"
        assert work.started == 2


async def test_a_job_nobody_asks_for_stops_spending_and_goes_on_later() -> None:
    async with running(lease=0.01) as jobs:
        work = Steps(2, gated=True)
        job = jobs.ask("why-1", "why", work, limit=100, consent=False)
        await until(job, "paused")
        assert (job.status, job.pause) == ("paused", "nobody asked")
        work.gate.release()
        while job.active:
            await job.changed.wait()
        assert work.started == 1
        work.gate.release()
        again = jobs.ask("why-1", "why", work, limit=100, consent=False)
        assert (await finished(jobs, again)).status == "done"
        assert (job.calls, work.started) == (2, 2)


async def test_a_waiting_call_keeps_the_lease() -> None:
    async with running(lease=0.01) as jobs:
        work = Steps(1, gated=True)
        job = jobs.ask("why-1", "why", work, limit=100, consent=False)
        await jobs.wait(job, 0.1, 5, silent)
        assert job.status == "running"


async def test_a_job_pauses_at_its_limit_and_a_higher_limit_continues_it() -> None:
    async with running() as jobs:
        work = Steps(7)
        job = await finished(jobs, jobs.ask("why-1", "why", work, limit=5, consent=False))
        assert (job.status, job.pause, job.calls) == ("paused", "job limit", 5)
        job = await finished(jobs, jobs.ask("why-1", "why", work, limit=10, consent=True))
        assert (job.status, job.calls, work.started) == ("done", 7, 7)


async def test_a_higher_limit_reaches_a_job_that_runs() -> None:
    async with running() as jobs:
        work = Steps(3, gated=True)
        jobs.ask("why-1", "why", work, limit=1, consent=False)
        await work.waiting.wait()
        job = jobs.ask("why-1", "why", work, limit=3, consent=True)
        for _ in range(3):
            work.gate.release()
        assert (await finished(jobs, job)).status == "done"


async def test_jobs_share_what_the_process_may_spend() -> None:
    async with running(calls=6) as jobs:
        one = await finished(jobs, jobs.ask("why-1", "why", Steps(4), limit=100, consent=False))
        two = await finished(jobs, jobs.ask("why-2", "why", Steps(4), limit=100, consent=False))
        assert (one.status, two.status, two.pause, two.calls) == ("done", "paused", "process limit", 2)


async def test_what_an_earlier_process_paid_counts() -> None:
    ledger = Ledger({"why-1": 4})
    async with running() as jobs:
        work = Steps(6, ledger)
        job = await finished(jobs, jobs.ask("why-1", "why", work, limit=5, consent=False))
        assert (job.status, job.calls, work.started) == ("paused", 5, 1)


async def test_calls_that_bring_no_answer_count_against_the_limit_for_good() -> None:
    async with running() as jobs:
        work = Steps(100, unreadable=2)
        for _ in range(3):
            job = await finished(jobs, jobs.ask("why-1", "why", work, limit=30, consent=False))
            assert (job.status, job.pause, job.calls, work.started) == ("paused", "job limit", 30, 30)


async def test_a_job_that_was_forgotten_has_not_lost_what_it_cost() -> None:
    async with running(calls=10_000) as jobs:
        work = Steps(100, unreadable=2)
        await finished(jobs, jobs.ask("why-1", "why", work, limit=30, consent=False))
        for number in range(120):
            await finished(jobs, jobs.ask(f"why-other-{number}", "why", Steps(1), limit=10, consent=False))
        assert jobs.find("why-1") is None
        job = await finished(jobs, jobs.ask("why-1", "why", work, limit=30, consent=False))
        assert (job.status, job.calls, work.started) == ("paused", 30, 30)


async def test_calls_that_bring_no_answer_are_not_given_back_to_the_process() -> None:
    async with running(calls=12) as jobs:
        one = await finished(jobs, jobs.ask("why-1", "why", Steps(100, unreadable=2), limit=10, consent=False))
        two = await finished(jobs, jobs.ask("why-2", "why", Steps(100, unreadable=2), limit=10, consent=False))
        assert (one.calls, two.calls, two.pause) == (10, 2, "process limit")


async def test_calls_of_a_stretch_that_failed_count_too() -> None:
    def fail(_: int) -> None:
        raise ModelFailed("the server answered 500")

    async with running(calls=12) as jobs:
        work = Steps(100, unreadable=2, after=fail)
        for calls in (3, 6):
            bad = await finished(jobs, jobs.ask("why-1", "why", work, limit=7, consent=False))
            assert (bad.status, bad.calls) == ("failed", calls)
        last = await finished(jobs, jobs.ask("why-1", "why", work, limit=7, consent=False))
        assert (last.status, last.calls, work.started) == ("paused", 7, 7)


async def test_a_cache_that_cannot_be_read_ends_one_job_and_no_other(caplog: pytest.LogCaptureFixture) -> None:
    class Locked(Steps):
        async def paid(self, job: str) -> int:
            raise PermissionError(job)

    async with running() as jobs:
        slow = Steps(1, gated=True)
        jobs.ask("why-1", "why", slow, limit=10, consent=False)
        bad = await finished(jobs, jobs.ask("why-2", "why", Locked(3), limit=10, consent=False))
        assert (bad.status, bad.calls) == ("failed", 0)
        assert "why-2" in caplog.text
        slow.gate.release()
        good = await finished(jobs, jobs.ask("why-1", "why", slow, limit=10, consent=False))
        assert good.status == "done"


async def test_a_failure_keeps_what_was_known_and_the_other_jobs() -> None:
    def fail(calls: int) -> None:
        if calls == 2:
            raise ModelFailed("the server answered 401")

    async with running() as jobs:
        work = Steps(5, after=fail)
        bad = await finished(jobs, jobs.ask("why-1", "why", work, limit=100, consent=False))
        good = await finished(jobs, jobs.ask("why-2", "why", Steps(3), limit=100, consent=False))
        assert (bad.status, bad.calls, good.status) == ("failed", 2, "done")
        assert isinstance(bad.error, ModelFailed)
        assert bad.report is not None


async def test_a_fault_of_ours_ends_one_job_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def fault(_: int) -> None:
        raise KeyError("secret")

    async with running() as jobs:
        job = await finished(jobs, jobs.ask("why-1", "why", Steps(5, after=fault), limit=100, consent=False))
        assert (job.status, job.error) == ("failed", None)
        assert "why-1" in caplog.text


async def test_a_failed_job_is_tried_again() -> None:
    failures = [BadModel("no key")]

    def fail_once(_: int) -> None:
        if failures:
            raise failures.pop()

    async with running() as jobs:
        work = Steps(3, after=fail_once)
        await finished(jobs, jobs.ask("why-1", "why", work, limit=100, consent=False))
        job = await finished(jobs, jobs.ask("why-1", "why", work, limit=100, consent=False))
        assert (job.status, job.error) == ("done", None)


async def test_news_comes_with_every_change_and_at_least_once_a_pulse() -> None:
    async with running() as jobs:
        work = Steps(1, gated=True)
        seen: list[int] = []
        pulses = anyio.Event()

        async def note(job: Job) -> None:
            seen.append(job.calls)
            if len(seen) == 3:
                pulses.set()
                work.gate.release()

        job = jobs.ask("why-1", "why", work, limit=100, consent=False)
        await jobs.wait(job, 10, 0.01, note)
        assert pulses.is_set()
        assert job.status == "done"


async def test_finished_jobs_are_forgotten_and_running_ones_are_not() -> None:
    async with running(calls=10_000) as jobs:
        slow = Steps(1, gated=True)
        jobs.ask("why-slow", "why", slow, limit=10, consent=False)
        for number in range(120):
            await finished(jobs, jobs.ask(f"why-{number}", "why", Steps(1), limit=10, consent=False))
        assert jobs.find("why-slow") is not None
        assert jobs.find("why-0") is None
        assert jobs.find("why-119") is not None
