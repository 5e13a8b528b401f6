"""Keeps the recorder's own failures away from the program that is being recorded."""

from __future__ import annotations

import contextlib
import sys
import threading
from types import TracebackType


class Guard:
    """A `with` block around everything the recorder does on the program's behalf: failures end there.

    They are swallowed, counted in `failures`, and the first one is told on standard error. What is no `Exception`
    (an interrupt, a cancellation) belongs to the program and passes.
    """

    __slots__ = ("_lock", "_warned", "failures")

    def __init__(self) -> None:
        self.failures = 0
        self._warned = False
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self.failed(f"could not record an event ({type(error).__name__}: {said(error)}); the program goes on unchanged")
        return True

    def failed(self, message: str) -> None:
        """Count a failure, and tell the first one of this run."""
        with self._lock:
            self.failures += 1
            first, self._warned = not self._warned, True
        if first:
            tell(message)


def tell(message: str) -> None:
    """One line on standard error; nothing when there is no such stream any more.

    Not `warnings.warn`: a program that turns warnings into errors would be stopped by it.
    """
    with contextlib.suppress(Exception):
        print(f"runtape: {message}", file=sys.stderr, flush=True)


def said(error: BaseException) -> str:
    """The text of an error, also of one whose `__str__` raises."""
    try:
        return str(error)
    except Exception as second:  # noqa: BLE001 -- any error may hide in a foreign __str__
        return f"<no text: {type(second).__name__} while making it>"
