from __future__ import annotations

import asyncio
import os
import signal
import threading

import anyio
import anyio.lowlevel
import pytest

from runtape.ops.sync import blocking, run


async def double(number: int) -> int:
    await anyio.lowlevel.checkpoint()
    return 2 * number


def test_a_coroutine_runs_where_no_loop_runs():
    assert run(double(2)) == 4


def test_a_coroutine_runs_inside_a_running_loop_on_another_thread():
    async def thread_of() -> int:
        return threading.get_ident()

    async def notebook_cell() -> tuple[int, int]:
        return run(double(2)), run(thread_of())

    doubled, thread = asyncio.run(notebook_cell())

    assert doubled == 4
    assert thread != threading.get_ident()


def test_errors_arrive_as_they_are():
    async def fail() -> None:
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        run(fail())


def test_a_blocking_function_keeps_its_name_and_arguments():
    wait = blocking(double)

    assert wait(number=3) == 6
    assert wait.__name__ == "double"


def test_ctrl_c_goes_on_upwards_when_the_coroutine_answers_with_what_it_has():
    answered: list[str] = []

    async def stubborn() -> str:
        os.kill(os.getpid(), signal.SIGINT)
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            answered.append("partial")
        return "partial"

    with pytest.raises(KeyboardInterrupt):
        run(stubborn())

    assert answered == ["partial"]
