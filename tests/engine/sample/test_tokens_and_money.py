"""Limits on what calls use: set aside before sending, settled with what the server tells."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from sampling import FakeModel, ask, chat, said

from runtape.errors import BadInput, BudgetSpent, ModelFailed
from runtape.sample import attempts
from runtape.sample.amount import Amount, Ceiling
from runtape.sample.asks import Ask
from runtape.sample.budget import Budget
from runtape.sample.cache import ReplyCache
from runtape.sample.meter import Meter
from runtape.sample.model import Answer, Unanswered
from runtape.sample.prices import Prices
from runtape.sample.sampler import Sampler
from runtape.wire.values import Reply, Request, Usage

pytestmark = pytest.mark.anyio

ANSWER = 20
"""Tokens that a request allows for one answer."""


def table(folder: Path, **prices: object) -> Prices:
    file = folder / "prices.json"
    prices = prices or {"input": 2.0, "cached": 0.5, "output": 10.0}
    file.write_text(json.dumps({"dated": "2026-11-01", "models": {"m": prices}}), encoding="utf-8")
    return Prices(file)


class Billing:
    """A model that fails in every way and bills what a provider would: nothing for an error, all it may for silence."""

    identity = "billing"

    def __init__(self, seed: int, prices: Prices) -> None:
        self.random = random.Random(seed)
        self.max_n = self.random.choice([1, 4])
        self.failing = self.random.choice([0.0, 0.2, 0.6])
        self.tells = self.random.random() < 0.8
        self.billed = Amount()
        self._prices = prices

    async def sample(self, request: Request, n: int) -> Sequence[Answer]:
        tariff = self._prices.of(request)
        assert tariff is not None
        for _attempt in range(3):
            await attempts.current.get().start()
            for _ in range(self.random.randrange(4)):
                await anyio.lowlevel.checkpoint()
            arrived = self.random.randint(1, n)
            size = len(json.dumps(request.body, separators=(",", ":")))
            usage = Usage(size // self.random.randint(3, 4), arrived * self.random.randint(1, ANSWER), 0)
            bill = Amount((usage.input or 0) + (usage.output or 0), tariff.usd(usage))
            if self.random.random() >= self.failing:
                self.billed += bill
                reply = Reply("hi", stop="end", usage=usage if self.tells else Usage())
                return [Answer(reply, None)] * arrived
            if self.random.random() < 0.5:
                attempts.current.get().rejected(500, None)
            else:
                self.billed += bill
        raise Unanswered("no answer")

    async def aclose(self) -> None:
        pass


async def spend(sampler: Sampler, rng: random.Random, worker: int, ends: list[str]) -> None:
    try:
        for batch in range(rng.randint(1, 3)):
            requests = [chat(f"{worker}/{batch}/{i}", max_tokens=ANSWER) for i in range(rng.randint(1, 4))]
            await sampler.draw([Ask(request, "pool", rng.randint(1, 5)) for request in requests])
    except BudgetSpent:
        ends.append("spent")
    except ModelFailed:
        ends.append("failed")
    else:
        ends.append("done")


async def test_no_schedule_uses_more_tokens_or_money_than_allowed_or_stops_while_a_request_still_fits(
    tmp_path: Path,
) -> None:
    prices = table(tmp_path)
    ended: Counter[str] = Counter()
    for seed in range(300):
        rng = random.Random(seed)
        ceiling = Ceiling(rng.choice([None, rng.randint(0, 2000)]), rng.choice([None, rng.random() * 0.005]))
        model, budget = Billing(seed, prices), Budget(rng.choice([None, 20]), ceiling)
        with ReplyCache(None) as cache:
            meter = Meter(prices, limited=ceiling.any)
            sampler = Sampler(model, cache, budget, concurrency=rng.randint(1, 6), meter=meter)
            ends: list[str] = []
            async with anyio.create_task_group() as tasks:
                for worker in range(rng.randint(1, 4)):
                    tasks.start_soon(spend, sampler, rng, worker, ends)
        assert ceiling.allow(model.billed), seed
        assert ceiling.allow(budget.used), seed
        assert model.billed.tokens <= budget.used.tokens or not ceiling.any, seed
        assert (budget.held, budget.wallet.set_aside.tokens, round(budget.wallet.set_aside.usd, 12)) == (0, 0, 0), seed
        if "spent" in ends and budget.left != 0:
            assert not budget.fits(meter.worst(chat("0/0/0", max_tokens=ANSWER), 1)), seed
        ended.update(ends)
    assert min(ended[end] for end in ("spent", "failed", "done")) > 10, ended


async def test_more_is_set_aside_for_a_request_than_it_turns_out_to_use() -> None:
    meter = Meter(Prices(), limited=True)
    request = chat("word " * 200, max_tokens=50)
    before = meter.worst(request, 2)
    meter.take(request, [Answer(Reply("hi", stop="end", usage=Usage(250, 4, 0)), None)] * 2)
    assert before.tokens > meter.worst(request, 2).tokens >= 250 + 2 * 50


async def test_an_answer_without_usage_costs_what_was_set_aside_and_is_told() -> None:
    budget = Budget(None, Ceiling(tokens=5_000))
    with ReplyCache(None) as cache:

        async def silent(_: Request, __: int) -> list[Answer]:
            return [said("hi")]

        sampler = Sampler(FakeModel(silent), cache, budget)
        with pytest.raises(BudgetSpent, match=r"of the budget of 5,000 tokens .* are used, and the next request may"):
            await sampler.draw([ask(n=4)])
        assert any("did not say what" in note for note in sampler.notes)
    assert 0 < budget.used.tokens <= 5_000


async def test_cached_input_has_a_price_of_its_own(tmp_path: Path) -> None:
    tariff = table(tmp_path).of(chat())
    assert tariff is not None
    assert tariff.usd(Usage(1_000_000, 100_000, 400_000)) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 0.1 * 10)
    assert tariff.source == "prices.json, dated 2026-11-01"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"models": []}',
        '{"models": {"m": 3}}',
        '{"models": {"m": {"input": 1}}}',
        '{"models": {"m": {"input": "1", "output": 2}}}',
        '{"models": {"m": {"input": -1, "output": 2}}}',
        '{"models": {"m": {"input": true, "output": 2}}}',
    ],
)
async def test_a_file_that_holds_no_prices_says_what_is_wanted(tmp_path: Path, text: str) -> None:
    file = tmp_path / "prices.json"
    file.write_text(text, encoding="utf-8")
    for path in (file, tmp_path / "nowhere.json"):
        with pytest.raises(BadInput, match=r"in US dollars for a million tokens"):
            Prices(path)


async def test_the_public_table_knows_a_model_and_its_own_date() -> None:
    pytest.importorskip("genai_prices", reason="the extra `prices` is not installed")
    prices = Prices("public")
    tariff = prices.of(Request("openai", "chat.completions", "https://api.openai.com/v1", {"model": "gpt-4o-mini"}))
    assert tariff is not None
    assert tariff.source.startswith("genai-prices ")
    assert 0 < tariff.usd(Usage(1000, 0, 1000)) < tariff.usd(Usage(1000, 0, 0)) < tariff.usd(Usage(1000, 1000, 0))
    assert prices.of(chat()) is None
