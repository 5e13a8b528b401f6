"""Which recordings and replays listen to which HTTP client, and to whom of them a call belongs."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from . import playing
from .clients import transport_of
from .playing import Player
from .run import Run, current

Listener = Run | Player

lock = threading.RLock()
"""Guards what is known of listeners against two threads that begin or end at once; reading needs none. The collector
may end a replay in the middle of either."""
_taps: dict[int, Tap] = {}
"""By identity: a client need not be hashable, and one that compares equal to another is still another."""
_capturing: list[Run] = []


@dataclass(eq=False)
class Tap:
    """A client or transport, held weakly, and who wants to hear what it sends."""

    owner: weakref.ref[Any]
    client: int
    """Identity of the client; of a transport, of the first client that was seen to send through it."""
    shared: bool = False
    """True for a transport of several clients: a client of which no more is known could be a copy of any."""
    runs: list[Run] = field(default_factory=list[Run])
    players: list[Player] = field(default_factory=list[Player])

    def add(self, listener: Listener) -> None:
        """Once."""
        known: list[Any] = self.runs if isinstance(listener, Run) else self.players
        if listener not in known:
            known.append(listener)

    def discard(self, listener: Listener) -> None:
        """If it is there."""
        known: list[Any] = self.runs if isinstance(listener, Run) else self.players
        with suppress(ValueError):
            known.remove(listener)


def listen(client: object, listener: Listener) -> None:
    """Let `listener` hear `client` and its copies, which have its transport; twice is once.

    Raises:
        TypeError: the client can only be held strongly.
    """
    with lock:
        _listen(client, id(client), listener)
        with suppress(TypeError):  # a transport of that kind
            _listen(transport_of(client), id(client), listener)


def listen_to_all(run: Run) -> None:
    """Let `run` hear every client while it is the current one. A replay that has begun does without being asked."""
    with lock:
        _capturing.append(run)


def unlisten(listener: Listener) -> None:
    """End what the two began for `listener`."""
    with lock:
        for key, known in list(_taps.items()):
            known.discard(listener)
            if not (known.runs or known.players):
                _taps.pop(key, None)
        if listener in _capturing:
            _capturing.remove(listener)


def tap_of(sender: object) -> Tap | None:
    """What is known of the client or transport that sends; None when it is nothing, or could be of several clients."""
    known = _own(sender) or _own(transport_of(sender))
    return None if known is None or known.shared else known


def run_for(tap: Tap | None) -> tuple[Run | None, bool]:
    """The run that a call belongs to, and whether that is certain.

    The run that the thread or task is in, if it asked for this client or for all; else the one that wrapped the client.
    A thread started without its parent's context is in no run: a call of it through a client of several runs could
    be any one's.
    """
    tapped: Sequence[Run] = () if tap is None else tap.runs
    here = current()
    if here is not None and (here in tapped or here in _capturing):
        return here, True
    if tapped:
        return tapped[-1], len(tapped) == 1
    if here is None and _capturing:
        return _capturing[-1], False
    return None, True


def player_for(tap: Tap | None) -> tuple[Player | None, bool]:
    """The replay that a call belongs to, and whether its client was given to it."""
    here = playing.player()
    if tap is not None and tap.players:
        return (here if here in tap.players else tap.players[-1]), True
    return here, False


def _own(owner: object) -> Tap | None:
    known = _taps.get(id(owner))
    return known if known is not None and known.owner() is owner else None


def _listen(owner: object, client: int, listener: Listener) -> None:
    if owner is None:
        return
    known = _own(owner)
    if known is None:
        key = id(owner)
        # No lock in the callback: the collector may run in a thread that holds it.
        known = Tap(weakref.ref(owner, lambda _: _taps.pop(key, None)), client)
        _taps[key] = known
    known.shared = known.shared or known.client != client
    known.add(listener)
