"""A call in a thread that holds nothing up.

Neither an event loop nor an interpreter that ends waits for such a thread: a function that never returns is left
behind.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from typing import Generic, TypeVar

import anyio
from anyio import from_thread
from anyio.lowlevel import current_token

A = TypeVar("A")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Returned(Generic[T]):
    """What a function returned."""

    value: T


@dataclass(frozen=True, slots=True)
class Raised:
    """What a function raised."""

    error: BaseException


async def in_thread(function: Callable[[A], T], argument: A, patience: Callable[[], float]) -> Returned[T] | Raised:
    """What `function(argument)` comes to, in a thread of its own.

    A caller that is cancelled still waits `patience()` seconds: the answer may have cost something and can be kept.
    """
    done, token, context = anyio.Event(), current_token(), copy_context()
    ended: list[Returned[T] | Raised] = []

    def work() -> None:
        try:
            ended.append(Returned(context.run(function, argument)))
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            ended.append(Raised(error))
        with suppress(RuntimeError):  # the loop is gone: nobody waits any more
            from_thread.run_sync(done.set, token=token)

    threading.Thread(target=work, name="runtape model function", daemon=True).start()
    try:
        await done.wait()
    except anyio.get_cancelled_exc_class():
        with anyio.move_on_after(patience(), shield=True):
            await done.wait()
        if not ended:
            raise
        # The cancellation comes back at the next wait, when the answer is kept.
    return ended[0]
