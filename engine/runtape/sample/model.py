"""The one thing a model has to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from ..errors import ModelFailed
from ..wire.values import Json, Reply, Request

DEADLINE = 600.0
"""Seconds for one request, retries and pauses included; a server that sends a byte now and then gets no more."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One sample as it is kept in the reply cache."""

    reply: Reply | None
    """None when the model's answer could not be read; `error` says why."""
    raw: Json
    """The response body it came from, or what the model function returned."""
    error: str | None = None
    at: float | None = field(default=None, compare=False)
    """When it arrived, in seconds since 1970; None where nobody kept that."""


class RequestRefused(Exception):
    """Raised by a model when the server refuses this one request (too long, invalid); others may still pass."""


class Unanswered(ModelFailed):
    """Raised by a model when this request got no answer (overload, timeout, lost connection); asking again may pass."""


@runtime_checkable
class Model(Protocol):
    """Answers requests. Every implementation passes `testing.conformance`."""

    identity: str
    """What the reply cache files answers under: endpoint and API, or the function and its source; never a key."""
    max_n: int
    """Largest `n` worth asking for at once; 1 where one request gives one sample."""

    async def sample(self, request: Request, n: int) -> Sequence[Answer]:
        """One to n independent answers to `request`; may be fewer where the server does not honour `n`.

        Raises:
            RequestRefused: this request cannot be answered; others may.
            Unanswered: this request got no answer now; the same one may later.
            ModelFailed: no request can be answered (bad key, unknown model, server down).
        """
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...
