"""A wave of requests is one batch; what a batch brings is found again by whoever asks for it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from batch_doubles import BatchServer
from loopback import Answer, Loopback, chat_reply
from sampling import PATIENCE, chat

from runtape.errors import ModelFailed
from runtape.sample.asks import Ask
from runtape.sample.batch_model import KEPT, BatchModel
from runtape.sample.budget import Budget
from runtape.sample.cache import FILE, ReplyCache
from runtape.sample.endpoint import Endpoint
from runtape.sample.sampler import Sampler

pytestmark = pytest.mark.anyio


def echo(body: dict[str, Any]) -> Answer:
    """Says what it was asked, and which of its answers this is."""
    said = body["messages"][-1]["content"]
    whole = json.loads(json.dumps(chat_reply("", n=body.get("n", 1))))
    for choice in whole["choices"]:
        choice["message"]["content"] = f"{said} {choice['index']}"
    return Answer(whole)


@pytest.fixture
def double() -> BatchServer:
    return BatchServer(echo)


@pytest.fixture
def server(double: BatchServer) -> Iterator[Loopback]:
    with Loopback(double) as server:
        yield server


class Process:
    """What a process of its own has: a cache that it opened, a model, a sampler."""

    def __init__(self, server: Loopback, cache: ReplyCache, double: BatchServer, *, ends_after: int = 0) -> None:
        self.waited: list[float] = []
        self.heard: list[str] = []

        async def pause(seconds: float) -> None:
            await anyio.lowlevel.checkpoint()
            self.waited.append(seconds)
            double.ends = double.ends or len(self.waited) == ends_after

        endpoint = Endpoint(server.url, "k", "OPENAI_API_KEY", named=True)
        self.model = BatchModel("chat.completions", endpoint, cache, on_wait=self.heard.append, pause=pause)
        self.sampler = Sampler(self.model, cache, Budget(None))

    async def draw(self, *asks: Ask) -> list[list[str | None]]:
        with anyio.fail_after(PATIENCE):
            drawn = await self.sampler.draw(asks)
        return [[answer.reply and answer.reply.text for answer in got.answers] for got in drawn]


@asynccontextmanager
async def process(
    server: Loopback, folder: Path, double: BatchServer, *, ends_after: int = 0
) -> AsyncGenerator[Process]:
    with ReplyCache(folder, lease=0.5) as cache:
        process = Process(server, cache, double, ends_after=ends_after)
        try:
            yield process
        finally:
            with anyio.CancelScope(shield=True):
                await process.model.aclose()


def pay(text: str, n: int) -> Ask:
    return Ask(chat(text), "pool", n)


async def abandoned(server: Loopback, folder: Path, double: BatchServer, *asks: Ask) -> None:
    """A process that ends while its batch runs."""
    double.ends = False
    async with process(server, folder, double) as ours:

        async def stop(_: float) -> None:
            scope.cancel()
            await anyio.lowlevel.checkpoint()

        ours.model._pause = stop  # pyright: ignore[reportPrivateUsage] # ends the process at its first wait
        with anyio.CancelScope() as scope:
            await ours.draw(*asks)
    double.ends = True


async def test_each_answer_goes_to_the_request_it_belongs_to(
    server: Loopback, double: BatchServer, tmp_path: Path
) -> None:
    asks = [pay(f"text {number}", 1 + number % 3) for number in range(12)]
    async with process(server, tmp_path, double) as ours:
        drawn = await ours.draw(*asks)

    assert drawn == [[f"text {number} {at}" for at in range(1 + number % 3)] for number in range(12)]
    assert len(double.submitted) == 1
    assert double.alone == []


async def test_draws_that_run_at_the_same_time_share_a_batch(
    server: Loopback, double: BatchServer, tmp_path: Path
) -> None:
    async with process(server, tmp_path, double) as ours, anyio.create_task_group() as group:
        for number in range(5):
            group.start_soon(ours.draw, pay(f"text {number}", 2))

    assert len(double.submitted) == 1


async def test_requests_for_two_models_are_two_batches(server: Loopback, double: BatchServer, tmp_path: Path) -> None:
    other = Ask(chat("go", model="another"), "pool", 1)
    async with process(server, tmp_path, double) as ours:
        await ours.draw(pay("go", 1), other)

    models = [{body["model"] for body in batch.items.values()} for batch in double.submitted]
    assert sorted(models, key=sorted) == [{"another"}, {"m"}]


async def test_a_batch_is_looked_at_ever_more_rarely_up_to_once_a_minute(
    server: Loopback, double: BatchServer, tmp_path: Path
) -> None:
    double.ends = False
    async with process(server, tmp_path, double, ends_after=10) as ours:
        await ours.draw(pay("go", 1))

    assert ours.waited == sorted(ours.waited)
    assert ours.waited[0] <= 10
    assert ours.waited[-2:] == [60, 60]
    assert double.submitted[0].polled == len(ours.waited) + 1
    assert "batch_0, 0 of 1 requests done" in ours.heard[0]


async def test_a_process_that_asks_for_more_pays_only_for_what_is_in_no_batch(
    server: Loopback, double: BatchServer, tmp_path: Path
) -> None:
    await abandoned(server, tmp_path, double, pay("go", 3))
    async with process(server, tmp_path, double) as ours:
        drawn = await ours.draw(pay("go", 5), pay("stay", 1))

    assert drawn == [["go 0", "go 1", "go 2", "go 0", "go 1"], ["stay 0"]]
    assert double.asked == 6


async def test_answers_of_a_batch_that_were_kept_in_part_are_completed_from_it(
    server: Loopback, double: BatchServer, tmp_path: Path
) -> None:
    await abandoned(server, tmp_path, double, pay("go", 3))
    # What a kill leaves behind when the first of three answers is kept already.
    async with process(server, tmp_path, double) as ours:
        await ours.draw(pay("go", 1))
        first = len(double.submitted)
        drawn = await ours.draw(pay("go", 3))

    assert drawn == [["go 0", "go 1", "go 2"]]
    assert first == len(double.submitted) == 1


async def test_a_wait_that_is_cancelled_leaves_the_batch_to_the_next_draw(
    server: Loopback, double: BatchServer, tmp_path: Path
) -> None:
    await abandoned(server, tmp_path, double, *[pay(f"text {number}", 2) for number in range(4)])
    async with process(server, tmp_path, double) as ours:
        drawn = await ours.draw(*[pay(f"text {number}", 2) for number in range(4)])

    assert drawn == [[f"text {number} 0", f"text {number} 1"] for number in range(4)]
    assert len(double.submitted) == 1


async def test_an_answer_that_cannot_be_read_is_asked_for_anew_the_next_time(
    server: Loopback, double: BatchServer, tmp_path: Path
) -> None:
    double.reply = lambda body: Answer({"choices": []}) if "bad" in json.dumps(body) else echo(body)
    async with process(server, tmp_path, double) as ours:
        assert (await ours.draw(pay("go", 1), pay("bad", 1)))[0] == ["go 0"]
    double.reply = echo
    async with process(server, tmp_path, double) as ours:
        assert await ours.draw(pay("bad", 1)) == [["bad 0"]]


@pytest.mark.parametrize("days", [1, 30])
async def test_a_batch_that_the_server_does_not_know_is_paid_again_only_when_it_is_too_old(
    server: Loopback, double: BatchServer, tmp_path: Path, days: int
) -> None:
    await abandoned(server, tmp_path, double, pay("go", 2))
    double.submitted[0].id = "forgotten"
    with closing(sqlite3.connect(tmp_path / FILE)) as rows:
        rows.execute("UPDATE batches SET at = at - ?", (days * 86_400.0,))
        rows.commit()

    async with process(server, tmp_path, double) as ours:
        if days * 86_400.0 < KEPT:
            with pytest.raises(ModelFailed, match=r"does not know the batch batch_0.*key"):
                await ours.draw(pay("go", 2))
            assert double.asked == 2
        else:
            assert await ours.draw(pay("go", 2)) == [["go 0", "go 1"]]
            assert double.asked == 4


async def test_two_processes_that_want_the_same_share_one_batch(
    server: Loopback, double: BatchServer, tmp_path: Path
) -> None:
    double.ends = False
    async with (
        process(server, tmp_path, double, ends_after=3) as one,
        process(server, tmp_path, double, ends_after=3) as other,
        anyio.create_task_group() as group,
    ):
        group.start_soon(one.draw, pay("go", 3))
        group.start_soon(other.draw, pay("go", 3))

    assert double.asked == 3


BROKEN_RESULTS: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "cut": lambda lines: lines[:1],
    "torn": lambda lines: [*lines[:-1], lines[-1][: len(lines[-1]) // 2]],
    "none": lambda _: [],
    "garbage": lambda lines: [b"\xff<html>"] * len(lines),
}


@pytest.mark.parametrize("broken", BROKEN_RESULTS)
async def test_results_that_do_not_come_whole_are_fetched_again_and_paid_for_once(
    server: Loopback, double: BatchServer, tmp_path: Path, broken: str
) -> None:
    double.on_results = lambda lines: b"\n".join(BROKEN_RESULTS[broken](lines.splitlines()))
    asks = [pay(f"text {number}", 1) for number in range(4)]
    async with process(server, tmp_path, double) as ours:
        with suppress(ModelFailed):
            await ours.draw(*asks)
    double.on_results = lambda lines: lines
    async with process(server, tmp_path, double) as ours:
        assert await ours.draw(*asks) == [[f"text {number} 0"] for number in range(4)]
    assert double.asked == 4


async def test_of_two_results_for_one_request_the_answer_counts_and_results_of_others_do_not(
    server: Loopback, double: BatchServer, tmp_path: Path
) -> None:
    def more(lines: bytes) -> bytes:
        first = json.loads(lines.splitlines()[0])
        failed = {**first, "response": None, "error": {"code": "batch_expired", "message": "late"}}
        other = {**first, "custom_id": "somebody-elses"}
        return (
            b"\n".join(json.dumps(line).encode() for line in (failed, other))
            + b"\n"
            + lines
            + json.dumps(failed).encode()
        )

    double.on_results = more
    async with process(server, tmp_path, double) as ours:
        assert await ours.draw(pay("a", 2), pay("b", 1)) == [["a 0", "a 1"], ["b 0"]]
    assert double.asked == 3


@pytest.mark.parametrize("said", [b"<html>gateway</html>", {"object": "batch"}, {"id": "../x"}, [], b""])
async def test_a_batch_that_was_taken_without_a_usable_word_is_found_by_the_next_run(
    server: Loopback, double: BatchServer, tmp_path: Path, said: Any
) -> None:
    double.on_submit = lambda _: Answer(said)
    async with process(server, tmp_path, double) as ours:
        with pytest.raises(ModelFailed):
            await ours.draw(pay("go", 2))
    async with process(server, tmp_path, double) as ours:
        assert await ours.draw(pay("go", 2)) == [["go 0", "go 1"]]
    assert double.asked == 2
