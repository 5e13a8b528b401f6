from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from sampling import PATIENCE, FakeModel, ask, chat, said

from runtape.errors import BudgetSpent, ModelFailed
from runtape.sample import attempts
from runtape.sample.asks import Ask, Drawn
from runtape.sample.budget import Budget
from runtape.sample.cache import ReplyCache
from runtape.sample.model import Answer, RequestRefused, Unanswered
from runtape.sample.sampler import Counters, Sampler
from runtape.wire.values import Json, Reply, Request

pytestmark = pytest.mark.anyio


def text_of(request: Request) -> str:
    messages = request.body["messages"]
    assert isinstance(messages, list)
    assert isinstance(messages[0], dict)
    return str(messages[0]["content"])


def numbered(max_n: int = 1) -> FakeModel:
    """Every answer is a new text: which sample is which can be told."""
    given = 0

    async def act(request: Request, n: int) -> Sequence[Answer]:
        nonlocal given
        await anyio.lowlevel.checkpoint()
        given += n
        return [said(f"{text_of(request)} {at}") for at in range(given - n, given)]

    return FakeModel(act, max_n)


def texts(answers: Sequence[Answer]) -> list[Json]:
    return [answer.raw for answer in answers]


async def test_a_draw_answers_every_ask_in_order(memory: ReplyCache) -> None:
    sampler = Sampler(numbered(), memory, Budget(None))
    one, two = await sampler.draw([ask("a", 3), ask("b", 2)])
    assert len(one.answers) == 3
    assert len(two.answers) == 2
    assert all(str(text).startswith("b") for text in texts(two.answers))
    assert sampler.counters == Counters(drawn=5, reused=0, requests=5, rounds=2)


async def test_asking_for_more_keeps_what_is_there_and_asking_for_less_gives_the_first(memory: ReplyCache) -> None:
    sampler = Sampler(numbered(), memory, Budget(None))
    [first] = await sampler.draw([ask(n=2)])
    [more] = await sampler.draw([ask(n=5)])
    [less] = await sampler.draw([ask(n=2)])
    assert more.answers[:2] == first.answers == less.answers
    assert sampler.counters.drawn == 5
    assert sampler.counters.reused == 0, "what this run drew is no saving"


async def test_a_repeat_over_the_same_folder_sends_nothing(tmp_path: Path) -> None:
    with ReplyCache(tmp_path) as cache:
        drawn = await Sampler(numbered(), cache, Budget(None), job="why 1").draw([ask(n=4)])
        assert cache.paid("why 1") == 4
    with ReplyCache(tmp_path) as cache:
        model = numbered()
        again = Sampler(model, cache, Budget(0))
        assert await again.draw([ask(n=4)]) == drawn
        assert model.asked == []
        assert again.counters == Counters(drawn=0, reused=4, requests=0, rounds=0)


async def test_samples_of_one_series_never_answer_another(memory: ReplyCache) -> None:
    sampler = Sampler(numbered(), memory, Budget(None))
    [pool] = await sampler.draw([ask(n=3, series="pool")])
    [slot] = await sampler.draw([ask(n=3, series="slot 1")])
    assert not set(map(str, texts(pool.answers))) & set(map(str, texts(slot.answers)))


async def test_one_context_is_one_request_where_n_is_honoured(memory: ReplyCache) -> None:
    model = numbered(max_n=16)
    sampler = Sampler(model, memory, Budget(None))
    await sampler.draw([ask("base", 5, "pool"), ask("base", 3, "slot 1"), ask("other", 2)])
    assert model.asked == [8, 2]
    assert sampler.counters.requests == 2


async def test_fewer_answers_than_asked_are_counted_and_the_rest_is_asked_for(memory: ReplyCache) -> None:
    async def act(request: Request, n: int) -> Sequence[Answer]:
        model.max_n = 1
        return [said("one")]

    model = FakeModel(act, max_n=8)
    budget = Budget(5)
    [drawn] = await Sampler(model, memory, budget).draw([ask(n=5)])
    assert len(drawn.answers) == 5
    assert model.asked == [5, 1, 1, 1, 1]
    assert budget.spent == 5


async def test_until_a_model_has_answered_it_is_asked_alone(memory: ReplyCache) -> None:
    in_flight = most = before_first = 0

    async def act(request: Request, n: int) -> Sequence[Answer]:
        nonlocal in_flight, most, before_first
        in_flight += 1
        most = max(most, in_flight)
        before_first += not answered
        await anyio.sleep(0.001)
        in_flight -= 1
        answered.append(1)
        return [said("hi")]

    answered: list[int] = []
    await Sampler(FakeModel(act), memory, Budget(None), concurrency=3).draw([ask(str(i)) for i in range(12)])
    assert before_first == 1
    assert most == 3, "and from then on as many as allowed, and no more"


async def test_a_dead_key_costs_one_request(memory: ReplyCache) -> None:
    async def act(request: Request, n: int) -> Sequence[Answer]:
        raise ModelFailed("401")

    model = FakeModel(act)
    sampler = Sampler(model, memory, Budget(None))
    for _ in range(2):
        with pytest.raises(ModelFailed, match="401"):
            await sampler.draw([ask(str(i), 5) for i in range(60)])
    assert len(model.asked) == 1


async def test_after_a_key_dies_nothing_is_sent_and_what_came_is_kept(memory: ReplyCache) -> None:
    async def act(request: Request, n: int) -> Sequence[Answer]:
        number = len(model.asked)
        await anyio.lowlevel.checkpoint()
        if number > 20:
            raise ModelFailed("401")
        return [said("hi")]

    model = FakeModel(act)
    with pytest.raises(ModelFailed, match="401"):
        await Sampler(model, memory, Budget(None), concurrency=4, job="why").draw([ask(n=100)])
    assert len(model.asked) <= 24, "only what was on its way already"
    assert memory.paid("why") == 20


async def test_a_refused_request_breaks_its_own_variant_only(memory: ReplyCache) -> None:
    async def act(request: Request, n: int) -> Sequence[Answer]:
        if text_of(request) == "too long":
            raise RequestRefused("400: context length")
        return [said("hi")] * n

    model = FakeModel(act, max_n=4)
    sampler = Sampler(model, memory, Budget(None))
    asks = [ask("a", 2), ask("too long", 2), ask("b", 2)]
    drawn = await sampler.draw(asks)
    assert [one.broken for one in drawn] == [None, "400: context length", None]
    assert [len(one.answers) for one in drawn] == [2, 0, 2]
    await sampler.draw(asks)
    assert len(model.asked) == 3, "a refused request is not sent again"


async def test_when_every_request_is_refused_the_second_is_the_last(memory: ReplyCache) -> None:
    async def act(request: Request, n: int) -> Sequence[Answer]:
        raise RequestRefused("422: no such parameter")

    model = FakeModel(act)
    with pytest.raises(ModelFailed, match="no such parameter"):
        await Sampler(model, memory, Budget(None)).draw([ask(str(i)) for i in range(60)])
    assert len(model.asked) == 2


async def test_answers_that_do_not_count_are_replaced_a_few_times(memory: ReplyCache) -> None:
    sampler = Sampler(numbered(), memory, Budget(None))
    [some] = await sampler.draw([Ask(chat("a"), "pool", 4, lambda answer: answer.raw != "a 1")])
    assert texts(some.answers) == ["a 0", "a 1", "a 2", "a 3", "a 4"]
    [none] = await sampler.draw([Ask(chat("b"), "pool", 4, lambda _: False)])
    assert len(none.answers) == 7


async def test_an_unreadable_answer_is_replaced_and_asked_for_again_next_time(tmp_path: Path) -> None:
    async def act(request: Request, n: int) -> Sequence[Answer]:
        return [Answer(None, None, "broken JSON") if len(model.asked) == 2 else said("hi")]

    model = FakeModel(act)
    with ReplyCache(tmp_path) as cache:
        [drawn] = await Sampler(model, cache, Budget(None)).draw([ask(n=3)])
        assert [answer.error for answer in drawn.answers].count("broken JSON") == 1
        assert len(drawn.answers) == 4
    with ReplyCache(tmp_path) as cache:
        [drawn] = await Sampler(model, cache, Budget(None)).draw([ask(n=3)])
        assert [answer.error for answer in drawn.answers] == [None, None, None]


async def test_a_model_that_never_answers_readably_is_given_up_with_the_reason(memory: ReplyCache) -> None:
    async def act(request: Request, n: int) -> Sequence[Answer]:
        return [Answer(None, None, "the response has no choices")]

    model = FakeModel(act)
    with pytest.raises(ModelFailed, match=r"first 3 answers could not be read\. the response has no choices"):
        await Sampler(model, memory, Budget(None)).draw([ask(n=20)])
    assert len(model.asked) == 3


async def test_one_silent_request_is_tried_again_then_breaks_alone(memory: ReplyCache) -> None:
    async def act(request: Request, n: int) -> Sequence[Answer]:
        if text_of(request) == "bad":
            raise Unanswered("no answer, after retries")
        return [said("hi")]

    model = FakeModel(act)
    sampler = Sampler(model, memory, Budget(None))
    good, bad, more = await sampler.draw([ask("good", 4), ask("bad"), ask("more", 4)])
    assert len(good.answers) == len(more.answers) == 4
    assert bad.broken == "no answer, after retries"
    assert len(model.asked) == 8 + 2


async def test_a_silent_server_ends_the_draw(memory: ReplyCache) -> None:
    async def act(request: Request, n: int) -> Sequence[Answer]:
        if len(model.asked) > 1:
            raise Unanswered("no answer, after retries")
        return [said("hi")]

    model = FakeModel(act)
    with pytest.raises(ModelFailed, match="no answer"):
        await Sampler(model, memory, Budget(None), concurrency=4).draw([ask(str(i)) for i in range(4)])
    assert len(model.asked) == 1 + 3 + 3, "every request had a second try"


async def test_a_spent_budget_is_one_plain_error_and_keeps_what_fitted(memory: ReplyCache) -> None:
    model = numbered()
    sampler = Sampler(model, memory, Budget(7), job="why")
    with pytest.raises(BudgetSpent, match="budget of 7"):
        await sampler.draw([ask("a", 5), ask("b", 5)])
    assert len(model.asked) == 7
    assert memory.paid("why") == 7
    [drawn] = await Sampler(model, memory, Budget(0)).draw([ask("a", 5)])
    assert len(drawn.answers) == 5


async def test_a_cancelled_draw_keeps_what_arrived_and_sends_nothing_more(memory: ReplyCache) -> None:
    arrived = anyio.Event()

    async def act(request: Request, n: int) -> Sequence[Answer]:
        if len(model.asked) > 5:
            arrived.set()
            await anyio.sleep_forever()
        return [said("hi")]

    model = FakeModel(act)
    budget = Budget(100)
    sampler = Sampler(model, memory, budget, concurrency=8, job="why")
    sent: list[int] = []
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(sampler.draw, [ask(n=60)])
            await arrived.wait()
            await anyio.wait_all_tasks_blocked()
            sent.append(len(model.asked))
            tasks.cancel_scope.cancel()
        assert [len(model.asked)] == sent
        assert memory.paid("why") == 5
        assert [budget.spent] == sent, "what was on its way may be billed"
        assert budget.held == 0
        ours = numbered()
        await Sampler(ours, memory, Budget(None)).draw([ask(n=60)])
    assert len(ours.asked) == 55, "no claim outlives the draw"


async def test_two_draws_of_the_same_samples_pay_once(tmp_path: Path) -> None:
    async def act(request: Request, n: int) -> Sequence[Answer]:
        await anyio.sleep(0.01)
        return [said(f"by {len(model.asked)}")]

    model = FakeModel(act)
    drawn: list[list[Drawn]] = []

    async def draw(cache: ReplyCache) -> None:
        drawn.append(await Sampler(model, cache, Budget(None)).draw([ask("a", 6), ask("b", 6)]))

    with anyio.fail_after(PATIENCE), ReplyCache(tmp_path) as one, ReplyCache(tmp_path) as two:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(draw, one)
            tasks.start_soon(draw, two)
    assert len(model.asked) == 12
    assert drawn[0] == drawn[1]


def leased_until(folder: Path) -> float:
    db = sqlite3.connect(folder / "replies.sqlite")
    [(expires,)] = db.execute("SELECT max(expires) FROM leases").fetchall()
    db.close()
    return float(expires or 0)


async def test_a_claim_is_held_as_long_as_the_request_takes(tmp_path: Path) -> None:
    async def act(request: Request, n: int) -> Sequence[Answer]:
        asked.set()
        await finish.wait()
        return [said("hi")]

    asked, finish = anyio.Event(), anyio.Event()
    model = FakeModel(act)
    lease = 10.0  # far more than a busy machine stalls
    with anyio.fail_after(PATIENCE), ReplyCache(tmp_path, lease=lease) as one, ReplyCache(tmp_path, lease=lease) as two:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(Sampler(model, one, Budget(None)).draw, [ask()])
            await asked.wait()
            tasks.start_soon(Sampler(model, two, Budget(None)).draw, [ask()])
            first = leased_until(tmp_path)
            while leased_until(tmp_path) == first:  # noqa: ASYNC110 - the database tells
                await anyio.sleep(0.05)
            finish.set()
    assert len(model.asked) == 1


async def test_a_model_hears_which_samples_it_draws(memory: ReplyCache) -> None:
    async def act(request: Request, n: int) -> Sequence[Answer]:
        names.append(attempts.current.get().samples)
        return [said("hi")] * n

    names: list[tuple[str, ...]] = []
    sampler = Sampler(FakeModel(act, max_n=2), memory, Budget(None))
    await sampler.draw([ask(n=2, series="pool")])
    await sampler.draw([ask(n=3, series="pool"), ask(n=1, series="slot 1")])
    assert names == [("pool#0", "pool#1"), ("pool#2", "slot 1#0")]


async def test_progress_rises_with_every_reply(memory: ReplyCache) -> None:
    seen: list[int] = []
    sampler = Sampler(numbered(), memory, Budget(None), on_progress=lambda counters: seen.append(counters.drawn))
    await sampler.draw([ask(n=4)])
    assert seen == [1, 2, 3, 4]


async def test_notes_of_the_model_are_told_once(memory: ReplyCache) -> None:
    async def act(request: Request, n: int) -> Sequence[Answer]:
        attempts.current.get().note("it repeats itself")
        return [said("hi")]

    sampler = Sampler(FakeModel(act), memory, Budget(None))
    await sampler.draw([ask(n=4)])
    assert sampler.notes == ["it repeats itself"]


async def test_whether_a_server_honours_n_is_found_out_once_and_kept_for_a_resumed_search(tmp_path: Path) -> None:
    def stingy() -> FakeModel:
        async def one_at_most(request: Request, n: int) -> list[Answer]:
            model.max_n = 1
            return [said("yes")]

        model = FakeModel(one_at_most, max_n=16)
        return model

    first = stingy()
    with ReplyCache(tmp_path) as cache:
        assert await Sampler(first, cache, Budget(10)).samples_at_once(ask(n=2)) == 1
    assert first.asked == [2]

    second = stingy()
    with ReplyCache(tmp_path) as cache:
        sampler = Sampler(second, cache, Budget(10))
        assert await sampler.samples_at_once(ask(n=2)) == 1
        assert second.asked == []
        await sampler.draw([ask(n=2)])
    assert second.asked == [1]


async def test_a_server_that_honours_n_is_asked_for_many_samples_at_once(tmp_path: Path) -> None:
    async def all_of_them(request: Request, n: int) -> list[Answer]:
        return [said("yes")] * n

    model = FakeModel(all_of_them, max_n=16)
    with ReplyCache(tmp_path) as cache:
        sampler = Sampler(model, cache, Budget(20))
        assert await sampler.samples_at_once(ask(n=2)) == 16
        await sampler.draw([ask(n=10)])
    assert model.asked == [2, 8]


def served_by(*names: str | None) -> FakeModel:
    given = itertools.cycle(names)

    async def act(request: Request, n: int) -> list[Answer]:
        return [Answer(Reply("hi", stop="end", model=next(given)), "hi")]

    return FakeModel(act)


async def test_a_server_that_answers_as_several_models_is_told(memory: ReplyCache) -> None:
    sampler = Sampler(served_by("m-1", None, "m-2\u202e"), memory, Budget(None))
    await sampler.draw([ask(n=3)])
    [note] = sampler.notes
    assert "asked for 'm', the server answered as 'm-1' and 'm-2<U+202E>': " in note


async def test_a_model_that_changed_since_its_answers_were_kept_is_told(tmp_path: Path) -> None:
    with ReplyCache(tmp_path) as cache:
        sampler = Sampler(served_by("m-1"), cache, Budget(None))
        await sampler.draw([ask(n=2)])
        assert sampler.notes == []
    with ReplyCache(tmp_path) as cache:
        sampler = Sampler(served_by("m-2"), cache, Budget(None))
        await sampler.draw([ask(n=2)])
        assert sampler.notes == []
        await sampler.draw([ask(n=3)])
        [note] = sampler.notes
        assert "answered as 'm-1' and 'm-2'" in note


async def test_models_that_were_asked_for_by_different_names_may_differ(memory: ReplyCache) -> None:
    async def act(request: Request, n: int) -> list[Answer]:
        return [Answer(Reply("hi", stop="end", model=str(request.body["model"])), "hi")]

    sampler = Sampler(FakeModel(act), memory, Budget(None))
    other = Request("openai", "chat.completions", None, {**chat().body, "model": "m2"})
    await sampler.draw([ask(n=2), Ask(other, "pool", 2)])
    assert sampler.notes == []


async def test_many_names_are_cut(memory: ReplyCache) -> None:
    sampler = Sampler(served_by(*(f"{i}" * 500 for i in range(9))), memory, Budget(None))
    await sampler.draw([ask(n=9)])
    [note] = sampler.notes
    assert "and 5 more" in note
    assert len(note) < 600


async def test_a_hundred_cancelled_draws_send_nothing_more_and_keep_what_came() -> None:
    for moment in range(100):
        sent = 0

        async def answering(_: Request, __: int, stop_after: int = moment // 4) -> list[Answer]:
            nonlocal sent
            sent += 1
            for _checkpoint in range(3):
                await anyio.lowlevel.checkpoint()
            if sent > stop_after:
                group.cancel_scope.cancel()
            await anyio.lowlevel.checkpoint()
            return [said("hi")]

        budget = Budget(None)
        with ReplyCache(None) as cache, anyio.fail_after(PATIENCE):
            sampler = Sampler(FakeModel(answering), cache, budget, concurrency=1 + moment % 5, job="j")
            async with anyio.create_task_group() as group:
                group.start_soon(sampler.draw, [ask(str(number)) for number in range(40)])
            before = sent
            for _checkpoint in range(10):
                await anyio.lowlevel.checkpoint()
            assert sent == before < 40
            assert cache.paid("j") <= sent
            assert budget.held == 0
            assert budget.spent == sent
