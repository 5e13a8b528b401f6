"""Coroutines run from ordinary code."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import anyio
from anyio.from_thread import start_blocking_portal

P = ParamSpec("P")
T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine; also where an event loop is running, as in a notebook.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed, even when the coroutine ended with a partial result.
    """
    result: T
    if _in_event_loop():
        # A running loop cannot be entered again, so the coroutine gets a loop of its own on another thread.
        with start_blocking_portal() as portal:
            result = portal.call(_interruptible, coroutine)
    else:
        try:
            result = anyio.run(_interruptible, coroutine)
        except asyncio.CancelledError:  # what Ctrl-C becomes before 3.11
            raise KeyboardInterrupt from None
    return result


def blocking(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The same function for ordinary code: it waits for the result."""

    @wraps(function)
    def wait(*args: P.args, **kwargs: P.kwargs) -> T:
        return run(function(*args, **kwargs))

    return wait


async def _interruptible(coroutine: Coroutine[Any, Any, T]) -> T:
    # A verb answers a cancellation with what it has. Ctrl-C is meant for the whole program, so it goes on upwards; in a
    # task of its own the verb cannot keep it from doing so. Before 3.11 a task does not know that it was cancelled.
    work = asyncio.ensure_future(coroutine)
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        work.cancel()
        while not work.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({work})
        if not work.cancelled():
            work.exception()  # looked at, so that asyncio does not report it as lost
        raise


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
