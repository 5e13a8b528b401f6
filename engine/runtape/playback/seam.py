"""The HTTP seam, played: `send` of a client, or of every client of the process, answers from the record."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import timedelta
from functools import cache
from typing import Any

from ..record.clients import client_classes, library, own_send
from .answers import Answer

Play = Callable[[Any], "Answer | None"]
"""From an HTTP request to its recorded answer; None where the request is to be sent."""

_lock = threading.Lock()


class Seam:
    """The replaced `send`s of one replay."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self._replaced: list[tuple[Any, Any, Any]] = []
        """Owner, its own `send` where it had one of its own, ours."""

    def wrap(self, client: Any) -> None:
        """Answer what this client sends; asking twice changes nothing.

        Raises:
            Exception: the client does not let its `send` be replaced.
        """
        self._replace(client, own_send(client), client.send, at=0)

    def wrap_all(self) -> None:
        """Answer what any HTTP client of the process sends."""
        kind: Any
        for kind in client_classes():
            self._replace(kind, own_send(kind), kind.send, at=1)

    def remove(self) -> None:
        """Put everything back that nobody has replaced in the meantime."""
        with _lock:
            for owner, own, ours in reversed(self._replaced):
                if own_send(owner) is not ours:
                    continue
                if own is None:
                    del owner.send
                else:
                    owner.send = own
            self._replaced.clear()

    def _replace(self, owner: Any, own: Any, before: Any, *, at: int) -> None:
        with _lock:
            if any(known is owner for known, _, _ in self._replaced):
                return
            ours = functools.update_wrapper(_played(before, self._play, at=at), before)
            owner.send = ours
            self._replaced.append((owner, own, ours))


def _played(original: Any, play: Play, *, at: int) -> Any:
    """`original` with recorded answers in its place where there are; the request is argument number `at`."""

    def send(*args: Any, **kwargs: Any) -> Any:
        request = args[at] if len(args) > at else kwargs["request"]
        answer = play(request)
        if answer is None:
            return original(*args, **kwargs)
        response = _response(request, answer)
        if not kwargs.get("stream"):
            response.read()
        return response

    async def asend(*args: Any, **kwargs: Any) -> Any:
        request = args[at] if len(args) > at else kwargs["request"]
        answer = play(request)
        if answer is None:
            return await original(*args, **kwargs)
        response = _response(request, answer)
        if not kwargs.get("stream"):
            await response.aread()
        return response

    return asend if inspect.iscoroutinefunction(original) else send


def _response(request: Any, answer: Answer) -> Any:
    http: Any = library(request)
    if answer.status is None:
        raise _error(http, answer, request)
    stream = _stream_class(http)(answer, http)
    response = http.Response(answer.status, headers=answer.headers, stream=stream, request=request)
    response.elapsed = timedelta(seconds=answer.seconds)
    return response


def _error(http: Any, answer: Answer, request: Any) -> Exception:
    """The recorded error of the connection, as one of the library's own."""
    kind = getattr(http, answer.error, None)
    known = isinstance(kind, type) and issubclass(kind, http.TransportError)
    error: Exception = (kind if known and kind is not None else http.ConnectError)(answer.message, request=request)
    return error


class _Body:
    """A recorded body, read by either kind of client."""

    def __init__(self, answer: Answer, http: Any) -> None:
        self._answer = answer
        self._http = http

    def __iter__(self) -> Iterator[bytes]:
        yield from self._answer.chunks
        self._end()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._answer.chunks:
            yield chunk
        self._end()

    def _end(self) -> None:
        if self._answer.breaks:
            raise self._http.ReadError("the recorded connection broke here")


@cache
def _stream_class(http: Any) -> Any:
    return type("RecordedBody", (_Body, http.SyncByteStream, http.AsyncByteStream), {})
