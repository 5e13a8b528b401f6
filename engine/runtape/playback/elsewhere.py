"""A process that is started in a replay: the replay answers where it runs, and this process is to call nobody."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NoReturn

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


def announce(name: str) -> Callable[[], None]:
    """Let processes that are started from now on know; returns what ends that."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = name

    def end() -> None:
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before

    return end


def begin() -> None:
    """Refuse what this process would send or run; once, when `runtape` is imported in it."""
    player = Elsewhere()
    seam.tap_all(player)
    playing.active.append(player)
