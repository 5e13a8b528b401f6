"""Tools behave the same with the decorator, and each run is tied to the reply that asked for it."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
import traceback
from collections.abc import AsyncIterator, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from provider import events

from runtape.record import Recorder, record


def pairs(rec: Recorder) -> list[tuple[Any, Any]]:
    """Payloads of tool calls and of their results, in the order of the calls."""
    results = {event.parent: event.payload for event in events(rec.path, "tool_result")}
    return [(event.payload, results[event.id]) for event in events(rec.path, "tool_call")]


def test_arguments_are_recorded_under_their_names(rec: Recorder) -> None:
    @rec.tool
    def send(to: str, *copies: str, urgent: bool = False, **headers: str) -> int:
        return len(copies)

    assert send("a", "b", "c", subject="s") == 2
    assert pairs(rec) == [
        (
            {"name": "send", "arguments": {"to": "a", "copies": ["b", "c"], "subject": "s"}},
            {"name": "send", "result": 2},
        )
    ]


def test_methods_and_callables_keep_their_kind(rec: Recorder) -> None:
    class Shop:
        @rec.tool
        def own(self, x: int) -> int:
            return x

        @rec.tool
        @staticmethod
        def static(x: int) -> int:
            return x

        @classmethod
        @rec.tool
        def of_class(cls, x: int) -> int:
            return x

        def __call__(self, x: int) -> int:
            return x

    shop = Shop()
    partly = rec.tool(functools.partial(lambda x, y: x + y, 1), name="add")
    assert [shop.own(1), Shop.static(2), Shop.of_class(3), rec.tool(shop)(4), rec.tool(shop.own)(5), partly(6)] == [
        1,
        2,
        3,
        4,
        5,
        7,
    ]
    names = [call["name"] for call, _ in pairs(rec)]
    assert names == ["own", "static", "of_class", "Shop", "own", "own", "add"]
    assert [call["arguments"] for call, _ in pairs(rec)][:3] == [{"x": 1}, {"x": 2}, {"x": 3}]


def test_a_decorated_tool_looks_like_the_tool(rec: Recorder) -> None:
    async def coroutine(x: int) -> int:
        """Says so."""
        return x

    def generator(x: int) -> Iterator[int]:
        yield x

    async def async_generator(x: int) -> AsyncIterator[int]:
        yield x

    assert inspect.iscoroutinefunction(rec.tool(coroutine))
    assert inspect.isgeneratorfunction(rec.tool(generator))
    assert inspect.isasyncgenfunction(rec.tool(async_generator))
    assert inspect.signature(rec.tool(coroutine)) == inspect.signature(coroutine)
    assert (rec.tool(coroutine).__name__, rec.tool(coroutine).__doc__) == ("coroutine", "Says so.")


def test_generators_stay_lazy_and_two_way(rec: Recorder) -> None:
    made: list[Any] = []

    @rec.tool
    def count(n: int) -> Generator[Any, Any, str]:
        for i in range(n):
            made.append(i)
            made.append((yield i))
        return "done"

    numbers: Any = count(2)
    assert made == []
    assert next(numbers) == 0
    assert made == [0]
    assert numbers.send(9) == 1
    with pytest.raises(StopIteration) as caught:
        next(numbers)
    assert caught.value.value == "done"
    left: Any = count(5)
    next(left)
    left.close()
    (_, whole), (_, part) = pairs(rec)
    assert (whole["result"], whole["returned"]) == ([0, 1], "done")
    assert part["result"] == [0]
    assert events(rec.path, "tool_result")[1].meta["closed_early"] is True


def test_generators_take_what_is_thrown_in(rec: Recorder) -> None:
    @rec.tool
    def stubborn() -> Iterator[str]:
        try:
            yield "a"
        except ValueError:
            yield "caught"

    generator: Any = stubborn()
    next(generator)
    assert generator.throw(ValueError("x")) == "caught"
    assert list(generator) == []
    assert pairs(rec)[0][1]["result"] == ["a", "caught"]


def test_async_tools_inside_a_running_loop(rec: Recorder) -> None:
    @rec.tool
    async def double(x: int) -> int:
        await asyncio.sleep(0)
        return 2 * x

    @rec.tool
    async def stream(n: int) -> AsyncIterator[Any]:
        for i in range(n):
            got = yield i
            assert got is None or got == "hello"

    class Caller:
        async def __call__(self, x: int) -> int:
            return x

    async def main() -> None:
        assert await double(2) == 4
        assert [i async for i in stream(3)] == [0, 1, 2]
        two_way: Any = stream(3)
        assert await two_way.__anext__() == 0
        assert await two_way.asend("hello") == 1
        await two_way.aclose()
        assert await rec.tool(Caller())(7) == 7

    asyncio.run(main())
    assert [result["result"] for _, result in pairs(rec)] == [4, [0, 1, 2], [0, 1], 7]


def test_a_cancelled_tool_is_recorded_and_cancelled(rec: Recorder) -> None:
    @rec.tool
    async def wait() -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert pairs(rec)[0][1]["error"]["type"] == "CancelledError"


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, GeneratorExit])
def test_exceptions_pass_unchanged_with_their_traceback(rec: Recorder, kind: type[BaseException]) -> None:
    raised = kind("x")

    @rec.tool
    def fail() -> None:
        raise raised

    with pytest.raises(kind) as caught:
        fail()
    assert caught.value is raised
    assert traceback.extract_tb(raised.__traceback__)[-1].name == "fail"
    (error,) = (result["error"] for _, result in pairs(rec))
    assert (error["type"], error["message"]) == (kind.__name__, "x")
    assert len(events(rec.path, "error")) == 0


def test_an_exception_without_a_text_is_still_the_programs(rec: Recorder) -> None:
    class HostileError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

        __repr__ = __str__

    raised = HostileError()

    @rec.tool
    def fail() -> None:
        raise raised

    with pytest.raises(HostileError) as caught:
        fail()
    assert caught.value is raised
    assert pairs(rec)[0][1]["error"]["type"] == "HostileError"


def test_what_the_program_changes_later_is_recorded_as_it_was(rec: Recorder) -> None:
    history = [{"role": "user"}]

    @rec.tool
    def grow(items: list[Any]) -> list[Any]:
        items.append({"role": "tool"})
        return items

    assert grow(history) is history
    history.append({"role": "later"})
    ((call, result),) = pairs(rec)
    assert call["arguments"] == {"items": [{"role": "user"}]}
    assert result["result"] == [{"role": "user"}, {"role": "tool"}]


def asked(rec: Recorder, *calls: tuple[str | None, str, Any]) -> int:
    request = rec.log_llm_request(provider="openai", api="chat.completions", model="m", messages=[])
    return rec.log_llm_response(request, tool_calls=[{"id": i, "name": n, "arguments": a} for i, n, a in calls])


def links(rec: Recorder) -> list[tuple[Any, Any]]:
    return [(event.payload.get("call_id"), event.meta.get("requested_by")) for event in events(rec.path, "tool_call")]


def test_runs_are_tied_to_calls_by_arguments_then_by_order(rec: Recorder) -> None:
    @rec.tool
    def read(mail: int, limit: int = 5) -> None: ...

    reply = asked(
        rec, ("a", "read", {"mail": 1}), ("b", "read", {"mail": 2}), ("c", "read", {"mail": 2}), ("d", "other", {})
    )
    read(mail=2)
    read(mail=2)
    read(mail=1, limit=5)
    read(mail=1)
    assert links(rec) == [("b", reply), ("c", reply), ("a", reply), (None, None)]


def test_a_later_reply_is_answered_first(rec: Recorder) -> None:
    @rec.tool
    def read(mail: int) -> None: ...

    first = asked(rec, ("a", "read", {"mail": 1}))
    second = asked(rec, ("b", "read", {"mail": 1}))
    read(1)
    read(1)
    assert links(rec) == [("b", second), ("a", first)]


def test_parallel_runs_each_find_their_own_call(rec: Recorder) -> None:
    gate = threading.Barrier(4)

    @rec.tool
    def read(mail: int) -> int:
        gate.wait(20)
        return mail

    @rec.tool
    async def aread(mail: int) -> int:
        await asyncio.sleep(0)
        return mail

    reply = asked(
        rec, *((f"t{i}", "read", {"mail": i}) for i in range(4)), *((f"a{i}", "aread", {"mail": i}) for i in range(4))
    )
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, range(4))) == [0, 1, 2, 3]

    async def all_of_them() -> list[int]:
        return await asyncio.gather(*(aread(i) for i in range(4)))

    assert asyncio.run(all_of_them()) == [0, 1, 2, 3]
    for event in events(rec.path, "tool_call"):
        arguments: Any = event.payload["arguments"]
        assert event.payload["call_id"] == f"{str(event.payload['name'])[0].replace('r', 't')}{arguments['mail']}"
        assert event.meta["requested_by"] == reply


def test_equal_parallel_calls_are_tied_to_different_calls(rec: Recorder) -> None:
    @rec.tool
    def read(mail: int) -> None: ...

    asked(rec, *((f"c{i}", "read", {"mail": 7}) for i in range(40)))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(read, [7] * 40))
    assert sorted(call_id for call_id, _ in links(rec)) == sorted(f"c{i}" for i in range(40))


def test_tools_of_an_ended_run_only_call_through(tmp_path: Path) -> None:
    with record(tmp_path / "t.jsonl") as rec:

        @rec.tool
        def read(mail: int) -> int:
            return mail

    before = rec.path.read_bytes()
    assert read(3) == 3
    assert rec.path.read_bytes() == before
