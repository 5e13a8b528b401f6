"""A process that is started in a replay: the replay answers where it runs, and this process is to call nobody."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

from ..record import playing, seam
from ..record.stand_in import Make
from ..wire.dialects import dialect_of_path
from .divergence import Divergence, Stop
from .unrecorded import belongs

VARIABLE = "RUNTAPE_IN_REPLAY"
"""Environment variable with the name of the trace that is being replayed; `runtape` looks at it when it is imported."""


class Elsewhere:
    """Refuses what a replay would have to answer; see `Player`."""

    @property
    def substitute(self) -> Make:
        """Tools that are recorded do not run."""

        def make(tool: Any, title: str, *, is_method: bool) -> Callable[..., Any]:  # noqa: ARG001 -- as `Make` has it
            def call(*_args: Any, **_kwargs: Any) -> NoReturn:
                _refuse(f"tool call of {title}")

            return call

        return make

    def play(self, request: Any, *, wrapped: bool, leaving: bool) -> None:
        """Refuse it, if it is the agent's."""
        if request.method == "POST" and dialect_of_path(request.url.path) is not None:
            _refuse("model call")
        if belongs(request, wrapped=wrapped, capture=True, leaving=leaving):
            _refuse(f"{request.method} {request.url.path}")


def _refuse(step: str) -> NoReturn:
    name = os.environ.get(VARIABLE, "")
    reason = f"it was made in a process that was started during the replay of {name!r}, which does not reach there."
    raise Stop(Divergence(step, f"{reason} Replay in that process, or use threads."))


class Announcement:
    """Lets processes that are started meanwhile know of a replay. Several may go on at once, and end in any order."""

    _lock = threading.Lock()
    _current: ClassVar[list[Announcement]] = []
    _outer: ClassVar[str | None] = None
    """What the variable holds while there is none: this process may itself have been started in a replay."""

    def __init__(self, name: str) -> None:
        self.name = name
        with self._lock:
            if not self._current:
                Announcement._outer = os.environ.get(VARIABLE)
            self._current.append(self)
            os.environ[VARIABLE] = name

    def end(self) -> None:
        """Take it back."""
        with self._lock:
            self._current.remove(self)
            name = self._current[-1].name if self._current else self._outer
            if name is None:
                os.environ.pop(VARIABLE, None)
            else:
                os.environ[VARIABLE] = name


def begin() -> None:
    """Refuse what this process would send or run; once, when `runtape` is imported in it."""
    player = Elsewhere()
    seam.tap_all(player)
    playing.active.append(player)
