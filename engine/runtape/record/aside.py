"""Model calls of no agent: reruns, and what is asked about them. They are neither recorded nor played back."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_aside: ContextVar[bool] = ContextVar("runtape_aside", default=False)


def is_aside() -> bool:
    """Whether the calls of this thread or task, and of what it starts, are such."""
    return _aside.get()


@contextmanager
def aside() -> Generator[None]:
    """A block whose calls are such, whatever is recorded or replayed around it."""
    before = _aside.get()
    _aside.set(True)
    try:
        yield
    finally:
        _aside.set(before)
