"""What the batch API of a provider has to do."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from .. import canon
from ..errors import ModelFailed
from ..text import shorten, visible
from ..wire.values import Json, JsonObject
from .endpoint import Endpoint
from .failures import Exchange, failure
from .model import RequestRefused, Unanswered

NAME = re.compile(r"[A-Za-z0-9_-]{1,200}")
"""A server's name of a batch or a file. It becomes part of a path, so it may lead nowhere else."""


@dataclass(frozen=True, slots=True)
class Item:
    """One request of a batch."""

    name: str
    """Its `custom_id`: unique, at most 64 letters, digits, `-` and `_`."""
    body: JsonObject


@dataclass(frozen=True, slots=True)
class State:
    """How far a batch is."""

    remote: str
    ended: bool
    done: int
    total: int
    outputs: tuple[str, ...] = ()
    """Where the results are, as paths of the server that took the batch."""
    refused: Exchange | None = None
    """What every request of it was answered with, where the server refused the batch after it took it."""


class Absent(ModelFailed):
    """Raised when the server does not have what was asked for, a batch or its results."""


class Unclear(ModelFailed):
    """Raised when the server accepted what was sent and answered nothing usable: nobody knows whether it was taken."""


class BatchService(Protocol):
    """One provider's batch API at one endpoint."""

    most: int
    """Requests in one batch at most."""
    largest: int
    """Bytes of one batch at most."""
    one_model: bool
    """Whether all requests of a batch have to name the same model."""

    async def submit(self, batch: str, items: Sequence[Item]) -> str:
        """The server's name of a batch that it took.

        Raises:
            Unanswered: nobody knows whether it was taken, or the server takes none now.
            Unclear: nobody knows whether it was taken.
            ModelFailed: it was not taken, and no other would be.
        """
        ...

    async def candidates(self, batch: str, requests: int, at: float) -> list[str]:
        """The server's names of batches that may be `batch`, which was about to be submitted at `at`.

        Raises as `submit`.
        """
        ...

    async def state(self, remote: str) -> State:
        """How far a batch is.

        Raises:
            Unanswered: the server does not answer now.
            Absent: it does not know the batch.
            ModelFailed: it refuses.
        """
        ...

    async def results(self, state: State) -> Mapping[str, Exchange]:
        """What came back for each request of a batch that has ended, by `custom_id`.

        A request that it ended without has none, or an error of status 408. Raises as `state`.
        """
        ...


def answer_of(exchange: Exchange, endpoint: Endpoint, path: str) -> JsonObject:
    """The object that a call of a batch API was answered with.

    Raises:
        Unanswered: the server does not answer now.
        Absent: it has no batch API, or not this batch.
        Unclear: it accepted the call and answered no object.
        ModelFailed: it refuses.
    """
    if 200 <= exchange.status < 300:
        body = _json(exchange.body)
        if isinstance(body, dict):
            return body
    if exchange.status in (404, 405, 410, 501) or exchange.status < 300:
        said = visible(shorten(endpoint.without_key(exchange.body[:400].decode("utf-8", "replace")), 100))
        kind = Unclear if exchange.status < 300 else Absent
        raise kind(
            f"{endpoint.shown} has no batch API: it answered {exchange.status} at {path}"
            + (f" ({said})" if said else "")
            + ". Leave out --batch (batch=): the reruns are sent one by one then"
        )
    error = failure(exchange, endpoint, None)
    raise ModelFailed(f"the batch was refused: {error}") if isinstance(error, RequestRefused) else error


def name_in(answer: JsonObject, key: str, endpoint: Endpoint) -> str:
    """A name that the server gave.

    Raises:
        Unclear: there is none that can be one.
    """
    name = answer.get(key)
    if isinstance(name, str) and NAME.fullmatch(name):
        return name
    raise Unclear(f"{endpoint.shown} gave a batch or a file no usable {key!r}: {visible(shorten(repr(name), 100))}")


def lines_of(exchange: Exchange) -> list[JsonObject]:
    """The objects in a file of JSON lines; one that cannot be read is a request without an answer.

    Raises:
        Absent: it is not there.
        Unanswered: it could not be had.
    """
    if exchange.status in (404, 410):
        raise Absent(f"the results of a batch are not there: status {exchange.status}")
    if not 200 <= exchange.status < 300:
        raise Unanswered(f"the results of a batch could not be downloaded: status {exchange.status}. Ask again later")
    found = (_json(line) for line in exchange.body.splitlines() if line.strip())
    return [line for line in found if isinstance(line, dict)]


def error_body(message: Json, code: Json) -> bytes:
    """An error as the model's own API would answer it."""
    return canon.dumps({"error": {"message": message, "code": code, "type": code}})


def count(counts: Json, *names: str) -> int:
    """The sum of some numbers in an object."""
    values = [counts.get(name) for name in names] if isinstance(counts, dict) else []
    return sum(value for value in values if isinstance(value, int))


def _json(text: bytes) -> Json:
    try:
        return canon.loads(text)
    except ValueError:
        return None
