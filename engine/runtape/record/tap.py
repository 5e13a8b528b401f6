"""The seam: `send` of HTTP client classes, replaced so that the calls that pass through it are seen.

The method of the class is replaced, never an attribute of the client: the program may copy a client, keep its bound
`send` or look into it, and finds what it would have found. Calls of clients that no run asked for pass by. Every
method, helper and copy of an SDK sends through the same client, so none of them needs code here. What passes goes to an
`Attempt` and on, untouched.
"""

from __future__ import annotations

import functools
import inspect
import threading
import weakref
from collections.abc import Callable, Sequence
from types import FunctionType, TracebackType
from typing import Any

from .attempt import Attempt
from .clients import client_classes, own_send
from .exchange import begin
from .run import Run, current

Send = Callable[..., Any]

_lock = threading.Lock()
"""Guards the three that follow against two threads that begin or end at once; reading needs none."""
_taps: dict[int, _Tap] = {}
"""By the client's identity: a client need not be hashable, and one that compares equal to another is still another."""
_patches: dict[type, _Patch] = {}
_capturing: list[Run] = []

_passing: set[int] = set()
"""Identities of the requests inside a replaced `send` right now: a call may pass several, and the first records it."""


def tap(client: Any, run: Run) -> None:
    """Let `run` see what `client` sends; asking twice changes nothing.

    Raises:
        Exception: the client does not let its `send` be replaced.
    """
    with _lock:
        known = _tap_of(client)
        if known is None:
            known = _Tap(client)
            known.replace(client, run)
            _taps[id(client)] = known
        elif known.own is None:
            known.replace(client, run)
        if run not in known.runs:
            known.runs.append(run)


def capture(run: Run) -> None:
    """Let `run` see what any HTTP client of the process sends while `run` is the current one."""
    with _lock:
        for kind in client_classes():
            _patch(kind, run)
        _capturing.append(run)


def release(run: Run) -> None:
    """End what `tap` and `capture` began for `run`; the last run to leave takes the replacements away."""
    with _lock:
        for key, known in list(_taps.items()):
            if run in known.runs:
                known.runs.remove(run)
            if not known.runs:
                known.remove()
                _taps.pop(key, None)
        if run in _capturing:
            _capturing.remove(run)
        for kind, patch in list(_patches.items()):
            patch.runs.discard(run)
            if not patch.runs:
                patch.remove()
                del _patches[kind]


class _Tap:
    """One client, held weakly, and the runs that want to see what it sends."""

    def __init__(self, client: Any) -> None:
        key = id(client)
        self.runs: list[Run] = []
        # No lock in the callback: the collector may run in a thread that holds it.
        self.client = weakref.ref(client, lambda _: _taps.pop(key, None))
        self.own: _Own | None = None

    def replace(self, client: Any, run: Run) -> None:
        """Put a replacement where this client finds its `send`."""
        if "send" in getattr(client, "__dict__", ()):
            self.own = _Own(client, self.runs)
            return
        kind = next(base for base in _class_of(client).__mro__ if "send" in vars(base))
        _patch(kind, run)

    def remove(self) -> None:
        """Take a replacement on the client itself away."""
        client = self.client()
        if self.own is not None and client is not None:
            self.own.remove(client)


def _tap_of(client: object) -> _Tap | None:
    known = _taps.get(id(client))
    return known if known is not None and known.client() is client else None


def _class_of(value: object) -> Any:
    return type(value)


class _Own:
    """The replaced `send` of a client on which somebody had set one of their own."""

    def __init__(self, client: Any, runs: Sequence[Run]) -> None:
        self._before: Send = client.send
        self._send = functools.update_wrapper(_seen(self._before, lambda _: runs, at=0), self._before)
        client.send = self._send

    def remove(self, client: Any) -> None:
        """Put theirs back, unless someone has replaced ours in the meantime."""
        if own_send(client) is self._send:
            client.send = self._before


class _Patch:
    """The replaced `send` of one client class, and the runs that need it."""

    def __init__(self, kind: Any) -> None:
        self.runs: set[Run] = set()
        self._kind = kind
        before: object = own_send(kind)
        if not isinstance(before, FunctionType):
            raise TypeError(f"its `send` is a {type(before).__name__}")
        self._before: Send = before
        self._send = functools.update_wrapper(_seen(before, _tapped, at=1), before)
        kind.send = self._send

    def remove(self) -> None:
        """Put the class's own `send` back, unless someone has replaced ours in the meantime."""
        if own_send(self._kind) is self._send:
            self._kind.send = self._before


def _patch(kind: Any, run: Run) -> None:
    if kind not in _patches:
        _patches[kind] = _Patch(kind)
    _patches[kind].runs.add(run)


def _tapped(args: tuple[Any, ...]) -> Sequence[Run]:
    """The runs that asked for the client of a call through its class."""
    known = _tap_of(args[0]) if args else None
    return () if known is None else known.runs


def _seen(original: Send, runs: Callable[[tuple[Any, ...]], Sequence[Run]], *, at: int) -> Send:
    """`original` with every request shown to the run that it belongs to; the request is argument number `at`."""

    def send(*args: Any, **kwargs: Any) -> Any:
        passage = _enter(runs(args), args[at] if len(args) > at else kwargs.get("request"))
        if passage is None:
            return original(*args, **kwargs)
        with passage:
            response = original(*args, **kwargs)
        passage.attempt.answered(response)
        return response

    async def asend(*args: Any, **kwargs: Any) -> Any:
        passage = _enter(runs(args), args[at] if len(args) > at else kwargs.get("request"))
        if passage is None:
            return await original(*args, **kwargs)
        with passage:
            response = await original(*args, **kwargs)
        passage.attempt.answered(response)
        return response

    return asend if inspect.iscoroutinefunction(original) else send


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
