"""One attempt of a model call on its way through the seam."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from .clients import library
from .guard import Guard, said
from .response import Received
from .tee import Ending, ending_of, tee


class Attempt:
    """Watches what comes back, and hands it on once when it has come. None of the methods raises or waits."""

    def __init__(
        self, settle: Callable[[Received, float], None], guard: Guard, later: deque[Callable[[], None]]
    ) -> None:
        """`settle` gets what was received and the seconds that it took; `later` what must wait for a better moment."""
        self._settle = settle
        self._guard = guard
        self._later = later
        self._started = time.perf_counter()
        self._head: _Head | None = None
        self._chunks: list[bytes] = []
        # Taken once, by the first ending. A lock: one thread may close a stream while another ends the run.
        self._over = threading.Lock()

    def raised(self, error: BaseException) -> None:
        """The client raised instead of answering."""
        self._end(lambda: Received(ending=ending_of(error), error=error))

    def answered(self, response: Any) -> None:
        """The client returned `response`; a body that is still to be read is watched while the program reads it."""
        try:
            self._head = _Head.of(response)
            if response.is_stream_consumed or response.is_closed:
                content: bytes = response.content
                self._end(lambda: self._received(content, "end"))
            else:
                response.stream = tee(response.stream, self, self._head.library)
        except Exception as error:  # noqa: BLE001 -- a foreign object; the program has it unchanged
            why = f"the client returned a {type(response).__name__} that cannot be read: {said(error)}"
            self._end(lambda: Received(unparsed=why))

    def chunk(self, data: bytes) -> None:
        """See `Watcher`."""
        if not self._over.locked():
            self._chunks.append(data)

    def ended(self, how: Ending, error: BaseException | None = None) -> None:
        """See `Watcher`."""
        self._end(lambda: self._read_so_far(how, error))

    def collected(self) -> None:
        """See `Watcher`."""
        if not self._over.locked():
            self._later.append(lambda: self.ended("collected"))

    def _end(self, received: Callable[[], Received]) -> None:
        with self._guard:
            if self._over.acquire(blocking=False):
                seconds = time.perf_counter() - self._started
                self._settle(received(), seconds)
                self._chunks.clear()

    def _read_so_far(self, how: Ending, error: BaseException | None) -> Received:
        raw = b"".join(self._chunks)
        body = raw if self._head is None else self._head.decoded(raw)
        # The chunks of an encoded body are no chunks of the text.
        return self._received(body, how, error, tuple(map(len, self._chunks)) if body is raw else ())

    def _received(
        self, body: bytes, how: Ending, error: BaseException | None = None, lengths: tuple[int, ...] = ()
    ) -> Received:
        if self._head is None:
            return Received(ending=how, error=error)
        head = self._head
        return Received(head.status, head.content_type, body, lengths, how, error, head.should_retry)


@dataclass(frozen=True, slots=True)
class _Head:
    """What is kept of a response. Not the response itself: its stream is to notice when the program drops it."""

    library: ModuleType
    response: type
    status: int
    content_type: str
    encoding: str
    should_retry: bool | None

    @classmethod
    def of(cls, response: Any) -> _Head:
        """The head of a response.

        Raises:
            Exception: it is none of an HTTP library.
        """
        found = library(response)
        status = response.status_code
        if found is None or not isinstance(status, int):
            raise TypeError("it is no response of httpx")
        headers = response.headers
        retry = {"true": True, "false": False}.get(headers.get("x-should-retry", ""))
        encoding = headers.get("content-encoding", "")
        return cls(found, found.Response, status, headers.get("content-type", ""), encoding, retry)

    def decoded(self, raw: bytes) -> bytes:
        """`raw` with its content encoding undone, as far as it goes: what came over the wire may have been cut."""
        if not self.encoding or not raw:
            return raw
        copy = self.response(
            self.status, headers={"content-encoding": self.encoding}, stream=self.library.ByteStream(raw)
        )
        parts: list[bytes] = []
        with suppress(Exception):  # the library's own decoding error; the program meets it when it reads
            parts.extend(copy.iter_bytes())
        return b"".join(parts)
