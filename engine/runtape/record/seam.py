"""The seam of recording and replay: the methods by which HTTP clients send, replaced while somebody listens.

Replaced is the method of the class, never an attribute of the client: the program may copy a client, keep its bound
`send` or look into it, and finds what it would have found. A request passes the `send` of its client and, before it
reaches the network, a transport of the library: whatever way it takes, it comes by one of them. The first place where a
recording sees it is the only one; a replay is asked at each, until it answers. Requests that concern nobody pass by.
"""

from __future__ import annotations

import functools
import inspect
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from . import playing
from .attempt import Attempt
from .clients import all_senders, is_async, senders, transport_of
from .exchange import begin
from .playing import Player
from .run import Run, current

Send = Callable[..., Any]
Listener = Run | Player

_lock = threading.RLock()
"""Guards the three that follow against two threads that begin or end at once; reading needs none. The collector may end
a replay in the middle of either."""
_taps: dict[int, _Tap] = {}
"""By identity: a client need not be hashable, and one that compares equal to another is still another."""
_places: list[_Place] = []
_capturing: list[Run] = []

_passing: set[int] = set()
"""Identities of the requests on their way that a recording has seen."""
_inside: ContextVar[_Passage | None] = ContextVar("runtape_passage", default=None)
"""The latest of them in this thread or task."""


def tap(client: Any, listener: Listener) -> None:
    """Let `listener` hear what `client` and its copies send; asking twice changes nothing.

    Raises:
        Exception: the client does not let its `send` be replaced.
    """
    with _lock:
        for owner, name in senders(client):
            _replace(owner, name, listener)
        _listen(client, id(client), listener)
        with suppress(TypeError):  # a transport that nothing can refer to weakly
            _listen(transport_of(client), id(client), listener)


def tap_all(listener: Listener) -> None:
    """Let `listener` hear every HTTP client of the process: a run while it is the current one, a replay always."""
    with _lock:
        for owner, name in all_senders():
            _replace(owner, name, listener)
        if isinstance(listener, Run):
            _capturing.append(listener)


def untap(listener: Listener) -> None:
    """End what `tap` began for `listener`."""
    with _lock:
        for key, known in list(_taps.items()):
            known.discard(listener)
            if not (known.runs or known.players):
                _taps.pop(key, None)


def release(listener: Listener) -> None:
    """End everything that was begun for `listener`; the last one to leave puts the methods back."""
    with _lock:
        untap(listener)
        if listener in _capturing:
            _capturing.remove(listener)
        for place in list(_places):
            place.needed.discard(listener)
            if not place.needed:
                place.remove()
                _places.remove(place)


@dataclass(eq=False)
class _Tap:
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
        for known in (self.runs, self.players):
            with suppress(ValueError):
                known.remove(listener)  # type: ignore[arg-type]


def _listen(owner: object, client: int, listener: Listener) -> None:
    known = _tap_of(owner)
    if owner is None:
        return
    if known is None:
        key = id(owner)
        # No lock in the callback: the collector may run in a thread that holds it.
        known = _Tap(weakref.ref(owner, lambda _: _taps.pop(key, None)), client)
        _taps[key] = known
    known.shared = known.shared or known.client != client
    known.add(listener)


def _tap_of(owner: object) -> _Tap | None:
    known = _taps.get(id(owner))
    return known if known is not None and known.owner() is owner else None


class _Place:
    """One replaced method of a class, or of a client that somebody gave one of its own."""

    def __init__(self, owner: Any, name: str) -> None:
        self.needed: set[Listener] = set()
        self.owner = weakref.ref(owner)
        self.name = name
        self._before = _own(owner, name)
        original = getattr(owner, name)  # through the class: what a wrapper of somebody else expects
        seen = _seen(original, weakref.ref(owner), leaving=name != "send", waits=is_async(owner))
        self._ours = functools.update_wrapper(seen, original)
        setattr(owner, name, self._ours)

    def remove(self) -> None:
        """Put the method back, unless someone has replaced ours in the meantime."""
        owner = self.owner()
        if owner is not None and _own(owner, self.name) is self._ours:
            setattr(owner, self.name, self._before)


def _own(owner: object, name: str) -> Any:
    return vars(owner).get(name)


def _replace(owner: Any, name: str, listener: Listener) -> None:
    place = next((known for known in _places if known.name == name and known.owner() is owner), None)
    if place is None:
        place = _Place(owner, name)
        _places.append(place)
    place.needed.add(listener)


def _seen(original: Send, owner: weakref.ref[Any], *, leaving: bool, waits: bool) -> Send:
    """`original` with every request shown to those whom it concerns; `leaving` where it is a transport's."""
    bound = not isinstance(owner(), type)

    def enter(args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Passage | None:
        sender = owner() if bound else args[0] if args else None
        at = 0 if bound else 1
        return _enter(sender, args[at] if len(args) > at else kwargs.get("request"), leaving=leaving)

    def send(*args: Any, **kwargs: Any) -> Any:
        passage = enter(args, kwargs)
        if passage is None:
            return original(*args, **kwargs)
        with passage:
            response = passage.answer()
            if response is None:
                response = original(*args, **kwargs)
            elif not (leaving or kwargs.get("stream")):
                response.read()
        passage.answered(response)
        return response

    async def asend(*args: Any, **kwargs: Any) -> Any:
        passage = enter(args, kwargs)
        if passage is None:
            return await original(*args, **kwargs)
        with passage:
            response = passage.answer()
            if response is None:
                response = await original(*args, **kwargs)
            elif not (leaving or kwargs.get("stream")):
                await response.aread()
        passage.answered(response)
        return response

    return asend if waits or inspect.iscoroutinefunction(original) else send


class _Passage:
    """A request on its way through the seam."""

    __slots__ = ("_attempt", "_before", "_leaving", "_player", "_request", "_wrapped", "is_open")

    def __init__(
        self, request: Any, attempt: Attempt | None, player: Player | None, *, wrapped: bool, leaving: bool
    ) -> None:
        self.is_open = True
        self._request = request
        self._attempt = attempt
        self._player = player
        self._wrapped = wrapped
        self._leaving = leaving

    def __enter__(self) -> None:
        if self._attempt is not None:
            _passing.add(id(self._request))
            self._before = _inside.get()
            _inside.set(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._attempt is not None:
            _passing.discard(id(self._request))
            self.is_open = False
            _inside.set(self._before)
            if error is not None:
                self._attempt.raised(error)

    def answer(self) -> Any:
        """The recorded response; None where the request is to be sent."""
        if self._player is None:
            return None
        return self._player.play(self._request, wrapped=self._wrapped, leaving=self._leaving)

    def answered(self, response: Any) -> None:
        """Let the recording have the response that the program gets."""
        if self._attempt is not None:
            self._attempt.answered(response)


def _enter(sender: object, request: Any, *, leaving: bool) -> _Passage | None:
    known = _tap_of(sender) or _tap_of(transport_of(sender))
    if known is not None and known.shared:
        known = None
    player, wrapped = _player_for(() if known is None else known.players)
    attempt = None if _is_seen(request, leaving=leaving) else _begin(() if known is None else known.runs, request)
    if attempt is None and player is None:
        return None
    return _Passage(request, attempt, player, wrapped=wrapped, leaving=leaving)


def _is_seen(request: Any, *, leaving: bool) -> bool:
    """Whether a recording has seen it, or the one for whose sake it is sent: clients follow redirections."""
    if id(request) in _passing:
        return True
    outer = _inside.get() if leaving else None
    return outer is not None and outer.is_open


def _begin(tapped: Sequence[Run], request: Any) -> Attempt | None:
    run, attributed = _run_for(tapped)
    if run is None:
        return None
    with run.guard:
        return begin(run, request, attributed=attributed)
    return None


def _run_for(tapped: Sequence[Run]) -> tuple[Run | None, bool]:
    """The run that a call belongs to, and whether that is certain.

    The run that the thread or task is in, if it asked for this client or for all; else the one that wrapped the client.
    A thread started without its parent's context is in no run: a call of it through a client of several runs could
    be any one's.
    """
    here = current()
    if here is not None and (here in tapped or here in _capturing):
        return here, True
    if tapped:
        return tapped[-1], len(tapped) == 1
    if here is None and _capturing:
        return _capturing[-1], False
    return None, True


def _player_for(tapped: Sequence[Player]) -> tuple[Player | None, bool]:
    """The replay that a call belongs to, and whether its client was given to it."""
    here = playing.player()
    if tapped:
        return (here if here in tapped else tapped[-1]), True
    return here, False
