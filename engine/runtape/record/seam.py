"""The seam of recording and replay: the methods by which HTTP clients send, replaced while somebody listens.

Replaced is the method of the class, never an attribute of the client: the program may copy a client, keep its bound
`send` or look into it, and finds what it would have found. A request passes the `send` of its client and, before it
reaches the network, a transport of the library: whatever way it takes, it comes by one of them. The first place where a
recording sees it is the only one; a replay is asked at each, until it answers. Requests that concern nobody pass by.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from .aside import is_aside
from .attempt import Attempt
from .clients import all_senders, is_async, library, senders
from .exchange import begin, missed
from .playing import Player
from .run import Run, current
from .taps import Listener, Tap, listen, listen_to_all, lock, player_for, run_for, tap_of, unlisten

Send = Callable[..., Any]

_places: list[_Place] = []

_passing: set[int] = set()
"""Identities of the requests on their way that a recording has seen."""
_inside: ContextVar[_Passage | None] = ContextVar("runtape_passage", default=None)
"""The latest of them in this thread or task."""


def tap(client: Any, listener: Listener) -> None:
    """Let `listener` hear what `client` and its copies send; asking twice changes nothing.

    Raises:
        Exception: the client does not let its `send` be replaced.
    """
    with lock:
        for owner, name in senders(client):
            _replace(owner, name, listener)
        listen(client, listener)


def tap_all(listener: Listener) -> None:
    """Let `listener` hear every HTTP client of the process: a run while it is the current one, a replay always."""
    with lock:
        for owner, name in all_senders():
            _replace(owner, name, listener)
        if isinstance(listener, Run):
            listen_to_all(listener)


def release(listener: Listener) -> None:
    """End everything that was begun for `listener`; the last one to leave puts the methods back."""
    with lock:
        unlisten(listener)
        for place in list(_places):
            place.needed.discard(listener)
            if not place.needed:
                place.remove()
                _places.remove(place)


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

    __slots__ = ("_attempt", "_before", "_leaving", "_player", "_request", "_seen", "_wrapped", "is_open")

    def __init__(
        self, request: Any, seen: _Seen | None, player: Player | None, *, wrapped: bool, leaving: bool
    ) -> None:
        self.is_open = True
        self._request = request
        self._seen = seen is not None
        self._attempt = None if seen is None else seen.attempt
        self._player = player
        self._wrapped = wrapped
        self._leaving = leaving

    def __enter__(self) -> None:
        if self._seen:
            _passing.add(id(self._request))
            self._before = _inside.get()
            _inside.set(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._seen:
            _passing.discard(id(self._request))
            self.is_open = False
            _inside.set(self._before)
        if error is not None and self._attempt is not None:
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
    if is_aside():
        return None
    tap = tap_of(sender)
    if tap is None and library(request) is None:
        return None  # of a class that is none of the libraries', of which some client was wrapped
    player, wrapped = player_for(tap)
    seen = None if _is_seen(request, leaving=leaving) else _see(tap, request)
    if seen is None and player is None:
        return None
    return _Passage(request, seen, player, wrapped=wrapped, leaving=leaving)


def _is_seen(request: Any, *, leaving: bool) -> bool:
    """Whether a recording has seen it, or the one for whose sake it is sent: clients follow redirections."""
    if id(request) in _passing:
        return True
    outer = _inside.get() if leaving else None
    return outer is not None and outer.is_open


@dataclass(frozen=True, slots=True)
class _Seen:
    """A request that concerns a recording."""

    attempt: Attempt | None
    """None where it is only counted."""


def _see(tap: Tap | None, request: Any) -> _Seen | None:
    run, attributed = run_for(tap)
    if run is not None:
        with run.guard:
            attempt = begin(run, request, attributed=attributed)
            return None if attempt is None else _Seen(attempt)
    here = current()
    if here is not None:
        with here.guard:
            return _Seen(None) if missed(here, request) else None
    return None
