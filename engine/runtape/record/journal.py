"""The events of one run on their way into its file: secrets out, requests as deltas."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass

from ..trace.encoder import Encoder
from ..trace.packing import PACKED, Packer
from ..trace.redact import Redacted
from ..trace.streams import Stream
from ..trace.writer import Writer
from ..wire.dialect import Dialect
from ..wire.values import JsonObject, Parts
from .guard import Guard, said
from .kept_stream import with_stream


@dataclass(frozen=True, slots=True)
class Body:
    """A request as it goes over the wire."""

    dialect: Dialect
    raw: bytes


class UnreadableBody(Exception):
    """Raised when a request holds no JSON object."""


class Journal:
    """Writes events in the thread that calls: an event whose number was returned is in the file, or counted as lost."""

    def __init__(
        self,
        writer: Writer,
        redact: Callable[[str, JsonObject, JsonObject], Redacted],
        guard: Guard,
        *,
        keeps_streams: bool = True,
    ) -> None:
        """`keeps_streams` is False where `redact` is more than what is always taken out: it cannot see into chunks."""
        self._writer = writer
        self._redact = redact
        self._keeps_streams = keeps_streams
        self._guard = guard
        self._requests = Encoder()
        self._texts = Packer()
        # Re-entrant: a signal handler may make a model call of its own while this thread is writing one.
        self._encoding = threading.RLock()
        # A child that is forked while another thread holds the lock would wait for a thread that it does not have.
        _JOURNALS.add(self)

    def append(
        self,
        kind: str,
        payload: JsonObject,
        *,
        meta: JsonObject,
        parent: int | None = None,
        stream: Stream | None = None,
    ) -> int:
        """Write one event, with the stream that it came in if there is one; its number."""
        clean = self._clean(kind, payload, meta)
        if stream is not None and clean.failure is None:
            clean = with_stream(clean, stream, self._why_no_stream(payload, clean))
        return self._writer.append(kind, clean.payload, meta=clean.meta, parent=parent)

    def request(self, facts: JsonObject, content: Parts | Body, *, meta: JsonObject) -> int:
        """Write one `llm_request` of `facts` (`provider`, `api`, `endpoint`) and its parts or body; its number.

        Raises:
            UnreadableBody: the body is no JSON object.
        """
        provider = str(facts.get("provider"))
        with self._encoding:  # a request is relative to the one written before it
            if isinstance(content, Body):
                try:
                    delta = self._requests.encode_body(provider, content.dialect, content.raw)
                except Exception as error:  # no JSON, or of another shape
                    raise UnreadableBody(f"{type(error).__name__}: {said(error)}") from error
            else:
                delta = self._requests.encode(provider, content)
            clean = self._clean("llm_request", {**facts, **delta.fields}, meta)
            # After redaction: what a reference leads to is what was written.
            payload, is_packed = self._texts.pack(clean.payload)
            marks = {**clean.meta, PACKED: True} if is_packed else clean.meta
            number = self._writer.append("llm_request", payload, meta=marks)
            if clean.failure is None and self._writer.acknowledged(number):
                self._requests.remember(number, delta, clean.payload)
                self._texts.remember(number)
            return number

    @property
    def lost(self) -> int:
        """Events that could not be written."""
        return self._writer.lost

    @property
    def forked(self) -> bool:
        """True in a child process that has recorded nothing: the run and its end are the parent's."""
        return self._writer.forked

    def close(self) -> None:
        """Close the file."""
        self._writer.close()

    def _why_no_stream(self, payload: JsonObject, clean: Redacted) -> str | None:
        if not self._keeps_streams:
            return "a redact function is in use, which sees the assembled reply only"
        return None if clean.payload == payload else "redaction found something in the reply"

    def _clean(self, kind: str, payload: JsonObject, meta: JsonObject) -> Redacted:
        clean = self._redact(kind, payload, meta)
        if clean.failure is not None:
            self._guard.failed(f"the content of an event ({kind}) was left out: {clean.failure}")
        return clean

    def unlock_in_child(self) -> None:
        """Begin anew in a process that was just forked: its lock, and requests that stand in a file of their own."""
        self._encoding = threading.RLock()
        self._requests = Encoder()
        self._texts = Packer()


_JOURNALS: weakref.WeakSet[Journal] = weakref.WeakSet()


def _unlock_in_child() -> None:
    for journal in tuple(_JOURNALS):
        journal.unlock_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_in_child)
