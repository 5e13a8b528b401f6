"""Which replays are going on, and which of them this thread or task is in."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Protocol

from .stand_in import Make


class Player(Protocol):
    """A replay, for those who are to be played to."""

    @property
    def substitute(self) -> Make | None:
        """What makes the functions that are called in place of tools decorated for recording; None: they run."""
        ...

    def play(self, request: Any, *, wrapped: bool, leaving: bool) -> Any:
        """The recorded response to an HTTP request, its body unread; None where the request is to be sent.

        Args:
            request: One of an HTTP library.
            wrapped: Its client was given to this replay.
            leaving: It has passed every client and stands before the network.

        Raises:
            BaseException: the request is to be sent nowhere.
        """
        ...


active: list[Player] = []
"""The replays that have begun and not ended, in order."""


class _Stay:
    """Held by the contexts of the threads and tasks that a replay reaches, and by nothing else."""

    def __init__(self, player: Player, around: _Stay | None) -> None:
        self.player = player
        self.around = around
        """The replay that this one began in."""


_stay: ContextVar[_Stay | None] = ContextVar("runtape_replay", default=None)


class Visit:
    """The time between beginning and end of a replay."""

    def __init__(self, player: Player) -> None:
        self._player = player
        stay = _Stay(player, _stay.get())
        self._stay = weakref.ref(stay)
        _stay.set(stay)
        active.append(player)

    def end(self, over: Callable[[], None]) -> None:
        """End it. `over` is called when no task is left that began in it: one that goes on is still in the replay."""
        active.remove(self._player)
        _leave(self._player)
        left = self._stay()
        if left is None:
            over()
        else:
            weakref.finalize(left, over).atexit = False


def _leave(player: Player) -> None:
    """Go back to the replay around it that still goes on, unless the program is in another one by now."""
    stay = _stay.get()
    if stay is not None and stay.player is player:
        while stay is not None and stay.player not in active:
            stay = stay.around
        _stay.set(stay)


def here() -> Player | None:
    """The replay that this thread or task began in, ended or not; None outside of any."""
    stay = _stay.get()
    return None if stay is None else stay.player


def player() -> Player | None:
    """The replay that this thread or task belongs to.

    A thread started without its parent's context is in no replay that can be told: it gets the latest one.
    """
    return here() or (active[-1] if active else None)


def substitutable(tool: Any, title: str, *, is_method: bool) -> Callable[..., Any]:
    """A function that calls `tool`, or its substitute in a replay: replays begin and end after decoration."""

    def call(*args: Any, **kwargs: Any) -> Any:
        make = _substitute() if active or here() is not None else None
        if make is not None:
            return make(tool, title, is_method=is_method)(*args, **kwargs)
        return tool(*args, **kwargs)

    return call


def _substitute() -> Make | None:
    return next((one.substitute for one in (here(), *reversed(active)) if one is not None and one.substitute), None)
