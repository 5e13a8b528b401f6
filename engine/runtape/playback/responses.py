"""Recorded answers as responses of the HTTP library that the program uses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from datetime import timedelta
from functools import cache
from typing import Any

from ..record.clients import library
from .answers import PlayedAnswer

GRACE = 5.0
"""Seconds that a call which was given up when it was recorded may be waited for longer than then."""


def response_to(request: Any, answer: PlayedAnswer, outlived: Callable[[], None]) -> Any:
    """The response, its body still to be read, by either kind of client.

    Of a call that was cancelled when it was recorded nothing more comes: it is waited for until it is cancelled again.
    `outlived` is called when it is not.

    Raises:
        Exception: the recorded error of the connection, as one of the library's own.
    """
    http: Any = library(request)
    if answer.status is None and not answer.is_given_up:
        raise _error(http, answer, request)
    stream = _stream_class(http)(answer, http, outlived)
    response = http.Response(answer.status or 200, headers=answer.headers, stream=stream, request=request)
    response.elapsed = timedelta(seconds=answer.seconds)
    return response


def _error(http: Any, answer: PlayedAnswer, request: Any) -> Exception:
    kind = getattr(http, answer.error, None)
    known = isinstance(kind, type) and issubclass(kind, http.TransportError)
    error: Exception = (kind if known and kind is not None else http.ConnectError)(answer.message, request=request)
    return error


class _Body:
    """A recorded body, read by either kind of client."""

    def __init__(self, answer: PlayedAnswer, http: Any, outlived: Callable[[], None]) -> None:
        self._answer = answer
        self._http = http
        self._outlived = outlived

    def __iter__(self) -> Iterator[bytes]:
        yield from self._answer.chunks
        self._end()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._answer.chunks:
            yield chunk
        if self._answer.is_given_up:
            from anyio import sleep  # whatever awaits a client has it

            await sleep(self._answer.seconds + GRACE)
            self._outlived()
        self._end()

    def _end(self) -> None:
        if self._answer.breaks or self._answer.is_given_up:
            raise self._http.ReadError("the recorded connection broke here")


@cache
def _stream_class(http: Any) -> Any:
    return type("RecordedBody", (_Body, http.SyncByteStream, http.AsyncByteStream), {})
