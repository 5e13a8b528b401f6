"""What the parts of one recording share, and which recording the program is in."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from typing import Protocol

from ..trace.streams import Stream
from ..wire.values import JsonObject, Parts
from .asked import Asked
from .guard import Guard
from .journal import Body, Journal, UnreadableBody

UNNUMBERED = -1
"""In place of an event number: nothing was written."""


class Unfinished(Protocol):
    """A model call whose reply is not written yet."""

    @property
    def run(self) -> Run:
        """The run that records it."""
        ...

    def give_up(self) -> None:
        """Write the failure of its last attempt as its reply, if there was one."""
        ...

    def cut(self) -> None:
        """Write what there is: the recording ends."""
        ...


class Run:
    """One recording, for the parts that write into it. Nothing here raises but what it says."""

    def __init__(self, journal: Journal, guard: Guard) -> None:
        self.guard = guard
        self.asked = Asked()
        self.unfinished: set[Unfinished] = set()
        self.later: deque[Callable[[], None]] = deque()
        """What the garbage collector found finished; done before the next event."""
        self.active = True
        self.model_calls = 0
        """Model calls seen so far, written or not."""
        self.told = False
        """True once the program was told that something is not recorded."""
        self.missed = 0
        """Model calls made meanwhile by clients that this run was not given, as far as they were seen."""
        self.logged = False
        """True once the program described a call itself: those that were missed may be described as well."""
        self._journal = journal

    def append(
        self,
        kind: str,
        payload: JsonObject,
        *,
        meta: JsonObject | None = None,
        parent: int | None = None,
        stream: Stream | None = None,
    ) -> int:
        """Write one event, as `Journal.append`; its number, or `UNNUMBERED`."""
        self._catch_up()
        with self.guard:
            if self.active:
                above = None if parent == UNNUMBERED else parent
                return self._journal.append(kind, payload, meta=meta or {}, parent=above, stream=stream)
        return UNNUMBERED

    def request(self, facts: JsonObject, content: Parts | Body, *, meta: JsonObject | None = None) -> int:
        """Write one `llm_request`, as `Journal.request`; its number, or `UNNUMBERED`.

        Raises:
            UnreadableBody: the body is no JSON object.
        """
        self._catch_up()
        unreadable: UnreadableBody | None = None
        with self.guard:
            if self.active:
                try:
                    number = self._journal.request(facts, content, meta=meta or {})
                except UnreadableBody as error:
                    unreadable = error
                else:
                    self.model_calls += 1
                    return number
        if unreadable is not None:
            raise unreadable
        self.model_calls += 1
        return UNNUMBERED

    @property
    def unseen(self) -> int:
        """Model calls that are missing from the record, for all that is known."""
        return 0 if self.logged else self.missed

    def end(self, last: JsonObject) -> None:
        """Write the replies still to come as far as they came, then `last` as `run_end`, and close the file."""
        if not self._journal.forked:
            self._catch_up()
            for call in tuple(self.unfinished):
                with self.guard:
                    call.cut()
            lacking = {"lost": self._journal.lost, "failures": self.guard.failures, "missed": self.unseen}
            self.append("run_end", {**last, **{name: count for name, count in lacking.items() if count}})
            self.told = self.told or any(lacking.values())
        self.active = False
        with self.guard:
            self._journal.close()

    def _catch_up(self) -> None:
        while self.later:
            with self.guard:
                self.later.popleft()()
        waiting = held.get()
        if waiting is not None and waiting.run is self:
            # The program does something else, so the SDK has stopped trying.
            held.set(None)
            with self.guard:
                waiting.give_up()


held: ContextVar[Unfinished | None] = ContextVar("runtape_held", default=None)
"""The call of this thread or task whose last attempt failed in a way that the SDK may try again."""

_current: ContextVar[Run | None] = ContextVar("runtape_run", default=None)


def current() -> Run | None:
    """The recording that this thread or task is in; None outside of any."""
    run = _current.get()
    return run if run is not None and run.active else None


def enter(run: Run) -> Run | None:
    """Make `run` the current one of this thread or task; returns what `leave` needs to undo it."""
    before = current()
    _current.set(run)
    return before if before is not run else None


def leave(run: Run, before: Run | None) -> None:
    """Go back to the recording around `run`, unless the program is in another one by now."""
    if _current.get() is run:
        _current.set(before)
