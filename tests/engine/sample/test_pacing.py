"""In which order requests go, and how many a local server is sent at once."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import Answer, Loopback, Received, chat_reply
from sampling import FakeModel, ask, chat, said

from runtape.sample.asks import Ask
from runtape.sample.budget import Budget
from runtape.sample.cache import ReplyCache
from runtape.sample.endpoint import Endpoint
from runtape.sample.http_models import HttpModel
from runtape.sample.model import Answer as Sampled
from runtape.sample.planning import planned
from runtape.sample.rows import Sample
from runtape.sample.sampler import Sampler
from runtape.sample.serial import NOTE, Pacing
from runtape.wire.values import Request

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("serial", [True, False])
async def test_a_local_server_that_works_on_one_request_at_a_time_is_found_out_and_not_queued_at(serial: bool) -> None:
    one = threading.Lock()
    in_service = threading.Event()  # never set: a wait that nothing ends early
    first_wave = 1 + 6

    def answering(received: Received) -> Answer:
        if received.index >= first_wave:
            together.append(server.in_flight)
        if serial:
            with one:
                in_service.wait(0.21)
        else:
            in_service.wait(0.21)
        return Answer(chat_reply("hi"))

    together: list[int] = []
    with Loopback(answering) as server, ReplyCache(None) as cache:
        model = HttpModel("chat.completions", Endpoint(server.url, None, "OPENAI_API_KEY", named=False))
        model.max_n = 1
        sampler = Sampler(model, cache, Budget(None), concurrency=6)
        await sampler.draw([ask(n=first_wave)])
        await sampler.draw([ask("b", n=3)])
        later = Sampler(model, cache, Budget(None), concurrency=6)  # it is not measured a second time
        await later.draw([ask("c", n=1)])
        await later.draw([ask("d", n=2)])
        await model.aclose()
    assert (NOTE in sampler.notes) is (NOTE in later.notes) is serial
    assert len(together) == 6
    assert (max(together) == 1) is serial


@given(st.floats(0.3, 30), st.integers(6, 30), st.lists(st.floats(0.8, 1.25), min_size=31, max_size=31))
def test_a_queue_is_told_from_a_crowd_by_its_times(alone: float, k: int, noise: list[float]) -> None:
    queue, crowd = Pacing(), Pacing()
    assert not queue.queues([alone])
    assert not crowd.queues([alone])
    assert queue.queues([alone * place * noise[place] for place in range(1, k + 1)])
    straggling = [alone * noise[place] for place in range(k - 2)] + [alone * 20] * 2
    assert not crowd.queues(straggling)


async def test_requests_that_begin_alike_follow_each_other_where_there_is_no_room_for_all() -> None:
    texts = [f"{head} {tail}" for tail in range(5) for head in ("a", "b", "c")]
    missing = {Sample(text, "pool", 0): chat(text) for text in texts}
    assert [group[0].key for group in planned(missing, 1, 4)] == sorted(texts)
    assert [group[0].key for group in planned(missing, 1, 16)] == texts


async def test_the_order_of_requests_changes_no_answer(memory: ReplyCache) -> None:
    async def echo(request: Request, _: int) -> list[Sampled]:
        return [said(str(request.body["messages"]))]

    asks = [Ask(chat(f"{number % 3} {number}"), "pool", 1) for number in range(20)]
    drawn = await Sampler(FakeModel(echo), memory, Budget(None), concurrency=2).draw(asks)
    assert [one.answers[0].raw for one in drawn] == [str(one.request.body["messages"]) for one in asks]
