"""The seam: `send` of HTTP clients, replaced so that the calls that pass through it are seen.

On one client (`tap`), or on the client classes of the process (`capture`). Every method, helper and copy of an SDK
sends through the same client, so none of them needs code here. What passes goes to an `Attempt` and on, untouched.
"""

from __future__ import annotations

import functools
import inspect
import threading
import weakref
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from .attempt import Attempt
from .clients import client_classes, own_send
from .exchange import begin
from .run import Run, current

Send = Callable[..., Any]

_lock = threading.Lock()
"""Guards the three that follow."""
_taps: weakref.WeakKeyDictionary[object, _Tap] = weakref.WeakKeyDictionary()
_capturing: list[Run] = []
_patches: list[_Patch] = []

_passing: set[int] = set()
"""Identities of the requests inside a replaced `send` right now: a call may pass several, and the first records it."""


def tap(client: Any, run: Run) -> None:
    """Let `run` see what `client` sends; asking twice changes nothing.

    Raises:
        Exception: the client does not let its `send` be replaced.
    """
    with _lock:
        known = _taps.get(client)
        if known is None:
            known = _taps[client] = _Tap(client)
        if run not in known.runs:
            known.runs.append(run)


def capture(run: Run) -> None:
    """Let `run` see what any HTTP client of the process sends while `run` is the current one."""
    with _lock:
        if not _patches:
            _patches.extend(_Patch(kind) for kind in client_classes())
        _capturing.append(run)


def release(run: Run) -> None:
    """End what `tap` and `capture` began for `run`; the last run to leave takes the replacements away."""
    with _lock:
        for client, known in list(_taps.items()):
            if run in known.runs:
                known.runs.remove(run)
            if not known.runs:
                known.remove(client)
                del _taps[client]
        if run in _capturing:
            _capturing.remove(run)
            if not _capturing:
                for patch in _patches:
                    patch.remove()
                _patches.clear()


class _Tap:
    """The replaced `send` of one client, and the runs that want to see it."""

    def __init__(self, client: Any) -> None:
        self.runs: list[Run] = []
        before: Send = client.send
        self._own = own_send(client)
        original = self._own or _unheld(client)
        self._send = _seen(original, self.runs, is_async=inspect.iscoroutinefunction(before), at=0)
        shown: Any = functools.update_wrapper(self._send, before)
        del shown.__wrapped__  # the bound method, which holds the client
        shown.__signature__ = inspect.signature(before)
        client.send = self._send

    def remove(self, client: Any) -> None:
        """Put the client's own `send` back, unless someone has replaced ours in the meantime."""
        if own_send(client) is not self._send:
            return
        if self._own is None:
            del client.send
        else:
            client.send = self._own


def _class_of(value: object) -> Any:
    return type(value)


def _unheld(client: Any) -> Send:
    """The `send` of the client's class for this client, without holding it.

    Held, the client would be part of a cycle: the program's dropping it would not close its connections any more.
    """
    reference = weakref.ref(client)

    def send(*args: Any, **kwargs: Any) -> Any:
        alive = reference()
        return _class_of(alive).send(alive, *args, **kwargs)

    return send


class _Patch:
    """The replaced `send` of one client class."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._before: Send = kind.send
        self._send = _seen(self._before, (), is_async=inspect.iscoroutinefunction(kind.send), at=1)
        kind.send = functools.update_wrapper(self._send, self._before)

    def remove(self) -> None:
        """Put the class's own `send` back, unless someone has replaced ours in the meantime."""
        if self._kind.send is self._send:
            self._kind.send = self._before


def _seen(original: Send, tapped: Sequence[Run], *, is_async: bool, at: int) -> Send:
    """`original` with every request shown to the run that it belongs to; the request is argument number `at`."""

    def send(*args: Any, **kwargs: Any) -> Any:
        passage = _enter(tapped, args[at] if len(args) > at else kwargs.get("request"))
        if passage is None:
            return original(*args, **kwargs)
        with passage:
            response = original(*args, **kwargs)
        passage.attempt.answered(response)
        return response

    async def asend(*args: Any, **kwargs: Any) -> Any:
        passage = _enter(tapped, args[at] if len(args) > at else kwargs.get("request"))
        if passage is None:
            return await original(*args, **kwargs)
        with passage:
            response = await original(*args, **kwargs)
        passage.attempt.answered(response)
        return response

    return asend if is_async else send


class _Passage:
    """A request on its way through the seam."""

    __slots__ = ("_request", "attempt")

    def __init__(self, request: Any, attempt: Attempt) -> None:
        self._request = request
        self.attempt = attempt

    def __enter__(self) -> None:
        _passing.add(id(self._request))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _passing.discard(id(self._request))
        if error is not None:
            self.attempt.raised(error)


def _enter(tapped: Sequence[Run], request: Any) -> _Passage | None:
    if id(request) in _passing:
        return None
    run, attributed = _run_for(tapped)
    if run is None:
        return None
    with run.guard:
        attempt = begin(run, request, attributed=attributed)
        return None if attempt is None else _Passage(request, attempt)
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
