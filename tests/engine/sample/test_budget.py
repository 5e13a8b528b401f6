from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import anyio
import anyio.lowlevel
import pytest
from sampling import PATIENCE, FakeModel, ask, said

from runtape.errors import BudgetSpent, ModelFailed
from runtape.sample import attempts
from runtape.sample.budget import Budget
from runtape.sample.cache import ReplyCache
from runtape.sample.model import Answer, Unanswered
from runtape.sample.sampler import Sampler
from runtape.wire.values import Request

pytestmark = pytest.mark.anyio


class FlakyServer:
    """A model whose requests fail in every way, three attempts each like an SDK's; `billed` is what a provider would charge."""

    identity = "flaky"

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.max_n = self.random.choice([1, 1, 3, 8])
        self.failing = self.random.choice([0.0, 0.1, 0.4, 0.8])
        self.billed = 0

    async def sample(self, request: Request, n: int) -> Sequence[Answer]:
        for _attempt in range(3):
            await attempts.current.get().start()
            for _ in range(self.random.randrange(4)):
                await anyio.lowlevel.checkpoint()
            if self.random.random() >= self.failing:
                arrived = self.random.randint(1, n)
                self.billed += arrived
                return [said("hi")] * arrived
            if self.random.random() < 0.5:
                self.billed += 1
                attempts.current.get().rejected(500, None)
            else:
                self.billed += n  # no answer: the server may have done the work
        raise Unanswered("no answer")

    async def aclose(self) -> None:
        pass


async def spend(sampler: Sampler, rng: random.Random, worker: int, ends: list[str]) -> None:
    try:
        for batch in range(rng.randint(1, 4)):
            await sampler.draw([ask(f"{worker}/{batch}/{i}", rng.randint(1, 9)) for i in range(rng.randint(1, 4))])
    except BudgetSpent:
        ends.append("spent")
    except ModelFailed:
        ends.append("failed")
    else:
        ends.append("done")


async def test_no_schedule_overruns_the_budget_or_leaves_it_unused_while_work_is_left() -> None:
    ended: Counter[str] = Counter()
    for seed in range(1000):
        rng = random.Random(seed)
        model, budget = FlakyServer(seed), Budget(rng.randint(0, 25))
        with ReplyCache(None) as cache:
            sampler = Sampler(model, cache, budget, concurrency=rng.randint(1, 6))

            ends: list[str] = []
            async with anyio.create_task_group() as tasks:
                for worker in range(rng.randint(1, 4)):
                    tasks.start_soon(spend, sampler, rng, worker, ends)
        assert budget.limit is not None
        assert model.billed == budget.spent <= budget.limit, seed
        assert budget.held == 0, seed
        if "spent" in ends:
            assert model.billed == budget.limit, seed
        ended.update(ends)
    assert min(ended[end] for end in ("spent", "failed", "done")) > 50, ended


async def test_an_ungenerous_server_gives_back_what_it_did_not_use() -> None:
    budget = Budget(10)
    hold = budget.reserve(8)
    assert hold is not None
    hold.start()
    hold.settle(1)
    assert (budget.spent, budget.left) == (1, 9)


async def test_a_request_that_got_no_answer_costs_all_it_asked_for() -> None:
    budget = Budget(10)
    hold = budget.reserve(4)
    assert hold is not None
    hold.start()
    hold.settle(None)
    assert budget.spent == 4


async def test_a_request_that_was_never_sent_costs_nothing() -> None:
    budget = Budget(10)
    hold = budget.reserve(4)
    assert hold is not None
    assert budget.left == 6
    hold.settle(None)
    assert (budget.spent, budget.left) == (0, 10)


async def test_a_retry_that_does_not_fit_is_refused() -> None:
    budget = Budget(1)
    hold = budget.reserve(1)
    assert hold is not None
    hold.start()
    hold.rejected()
    with pytest.raises(BudgetSpent, match="budget of 1 model calls is spent"):
        hold.start()
    assert budget.spent == 1


async def test_who_finds_the_budget_held_waits_until_it_is_settled() -> None:
    budget = Budget(2)
    hold = budget.reserve(2)
    assert hold is not None
    assert budget.reserve(1) is None
    freed = False

    async def wait() -> None:
        nonlocal freed
        await budget.freed()
        freed = True

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            assert not freed
            hold.settle(None)
    assert freed


async def test_what_earlier_processes_paid_counts() -> None:
    budget = Budget(5, spent=5)
    with pytest.raises(BudgetSpent):
        await budget.freed()


async def test_a_closed_budget_lets_nothing_start_and_settles_what_is_on_its_way() -> None:
    for limit in (10, None):
        budget = Budget(limit)
        sent, waiting = budget.reserve(1), budget.reserve(1)
        assert sent is not None
        assert waiting is not None
        sent.start()
        budget.close()
        assert budget.reserve(1) is None
        with pytest.raises(BudgetSpent, match="told to stop"):
            waiting.start()
        sent.settle(1)
        waiting.settle(None)
        assert (budget.spent, budget.held) == (1, 0)
        with pytest.raises(BudgetSpent, match="told to stop"):
            await budget.freed()


async def test_without_a_limit_everything_fits() -> None:
    budget = Budget(None)
    hold = budget.reserve(1000)
    assert hold is not None
    assert hold.n == 1000
    await budget.freed()


async def test_a_closed_budget_finishes_what_is_on_its_way_and_sends_nothing_that_waits() -> None:
    budget = Budget(None)
    sent, let_go = anyio.Semaphore(0), anyio.Event()

    async def held_up(_: Request, __: int) -> list[Answer]:
        sent.release()
        if len(model.asked) > 1:  # the first request goes alone and is answered at once
            await let_go.wait()
        return [said("yes")]

    model = FakeModel(held_up)
    with ReplyCache(None) as cache, anyio.fail_after(PATIENCE):
        sampler = Sampler(model, cache, budget, concurrency=2, job="j")

        async def draw() -> None:
            with pytest.raises(BudgetSpent, match="told to stop"):
                await sampler.draw([ask(f"{number}") for number in range(9)])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(draw)
            for _ in range(3):
                await sent.acquire()
            budget.close()
            let_go.set()
        assert len(model.asked) == 3
        assert budget.spent == cache.paid("j") == 3
        assert budget.held == 0
