"""Requests as a trace stores them: only what an earlier request did not hold.

Of the messages, a request stores those behind an earlier request's (`base`, `messages_append`), or all of them
(`messages`). `system` and `tools` are stored when they differ from what the last request of the same provider in the
file had; an absent key means unchanged, null means none. Everything else of the body (`model`, `params`) is stored
every time.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from .. import canon
from ..errors import BrokenRequest
from ..wire.values import Json, JsonObject, Parts
from .events import Event


@dataclass(frozen=True, slots=True)
class Delta:
    """A request as it is to be written."""

    fields: JsonObject
    """Payload fields: `model`, `params`, `base` and `messages_append` or `messages`; `system`, `tools` if new."""
    provider: str
    conversation: bytes
    """Digest of all its messages in order."""
    messages: int
    sticky: dict[str, bytes]
    """Digest of its `system` and `tools`."""


class Encoder:
    """What the requests written so far held, as digests.

    `encode`, writing the event and `remember` are one step under the caller's lock, since `system` and `tools` are
    relative to the request before. A request that was not written must not be remembered.
    """

    def __init__(self) -> None:
        self._forget()

    def encode(self, provider: str, parts: Parts) -> Delta:
        """The request against the requests remembered; only the part that is new is copied."""
        if self._pid != os.getpid():  # a forked child writes a file of its own, in which no earlier request stands
            self._forget()
        fields: JsonObject = {"model": parts.model}
        before = self._sticky.get(provider, _NOTHING_SENT)
        sticky = {"system": _digest(parts.system), "tools": _digest(parts.tools)}
        if sticky["system"] != before["system"]:
            fields["system"] = parts.system
        if sticky["tools"] != before["tools"]:
            fields["tools"] = parts.tools
        digests = [_digest(message) for message in parts.messages]
        base, shared = self._longest(digests)
        if base is None:
            fields["messages"] = parts.messages
        else:
            fields["base"] = base
            fields["messages_append"] = parts.messages[shared:]
        fields["params"] = parts.params
        return Delta(fields, provider, _chain(digests), len(digests), sticky)

    def remember(self, event: int, delta: Delta, payload: JsonObject) -> None:
        """Let later requests build on this one, written as `event` with `payload`: `delta.fields` after redaction.

        A redaction that took messages or fields away is noticed, and nothing will build on it.
        """
        if payload.get("provider") == delta.provider and all(
            key in payload and _size(payload[key]) == _size(value) for key, value in delta.fields.items()
        ):
            self._conversations[delta.conversation] = event
            self._lengths.add(delta.messages)
            self._sticky[delta.provider] = delta.sticky
        else:
            self._sticky[delta.provider] = _UNKNOWN

    def _forget(self) -> None:
        self._pid = os.getpid()
        self._conversations: dict[bytes, int] = {}
        """The latest request whose messages have a digest."""
        self._lengths: set[int] = set()
        """How many messages these requests have."""
        self._sticky: dict[str, dict[str, bytes]] = {}
        """Digests of the `system` and `tools` that a reader of the file now assumes for a provider."""

    def _longest(self, digests: list[bytes]) -> tuple[int | None, int]:
        for length in range(len(digests), 0, -1):
            if length in self._lengths:
                base = self._conversations.get(_chain(digests[:length]))
                if base is not None:
                    return base, length
        return None, 0


@dataclass(frozen=True, slots=True)
class Step:
    """What one request added to a conversation."""

    event: int
    messages: list[Json]


class Expander:
    """Requests of one trace put together again; each is worked out once."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._requests: dict[int, Event] = {}
        self._sticky: dict[int, dict[str, Json]] = {}
        self._messages: dict[int, list[Json]] = {}
        last: dict[object, dict[str, Json]] = {}
        for event in events:
            if event.type != "llm_request" or "dropped" in event.payload:
                continue
            provider = str(event.payload.get("provider"))
            before = last.get(provider, _EMPTY)
            last[provider] = {key: event.payload.get(key, before[key]) for key in before}
            self._requests[event.id] = event
            self._sticky[event.id] = last[provider]

    def parts(self, request: int) -> Parts:
        """The request as it was sent.

        Raises:
            BrokenRequest: it is no request, or one that it builds on is missing, circular or of the wrong shape.
        """
        payload = self._request(request).payload
        model, params = payload.get("model"), payload.get("params")
        if not isinstance(model, (str, type(None))) or not isinstance(params, (dict, type(None))):
            raise BrokenRequest(f"event {request}: `model` must be text and `params` an object")
        sticky = self._sticky[request]
        return Parts(model, sticky["system"], list(self._whole(request)), sticky["tools"], params or {})

    def system(self, request: int) -> Json:
        """The system prompt outside the messages; None also when the request has no content."""
        return self._sticky.get(request, _EMPTY)["system"]

    def tools(self, request: int) -> Json:
        """The tools that the request offers; None also when the request has no content."""
        return self._sticky.get(request, _EMPTY)["tools"]

    def history(self, request: int) -> list[Step]:
        """The requests that this one builds on, oldest first, and itself.

        Raises:
            BrokenRequest: one of them is missing, circular or of the wrong shape.
        """
        steps: dict[int, Step] = {}
        at: int | None = request
        while at is not None:
            steps[at], at = self._step(request, at, steps)
        return list(reversed(steps.values()))

    def _whole(self, request: int) -> list[Json]:
        steps: dict[int, Step] = {}
        at: int | None = request
        while at is not None and at not in self._messages:
            steps[at], at = self._step(request, at, steps)
        whole = [] if at is None else list(self._messages[at])
        for step in reversed(steps.values()):
            whole += step.messages
        if len(self._messages) >= _KEPT:
            del self._messages[next(iter(self._messages))]
        self._messages[request] = whole
        return whole

    def _step(self, request: int, at: int, taken: Collection[int]) -> tuple[Step, int | None]:
        """What the request `at` stores, on the way back from `request`; and the request before it."""
        if at in taken:
            raise BrokenRequest(f"event {request} cannot be put together: it builds on itself, by way of event {at}")
        payload = self._request(at, by=request).payload
        base = payload.get("base")
        if not isinstance(base, (int, type(None))):
            raise BrokenRequest(f"event {at}: `base` is not an event number")
        key = "messages" if base is None else "messages_append"
        messages = payload.get(key)
        if not isinstance(messages, list):
            raise BrokenRequest(f"event {at}: `{key}` is not a list")
        return Step(at, messages), base

    def _request(self, number: int, by: int | None = None) -> Event:
        found = self._requests.get(number)
        if found is None:
            whose = f"event {number}" if by in (None, number) else f"event {number}, on which event {by} builds,"
            raise BrokenRequest(f"{whose} is not in this trace as a request with its content")
        return found


def expand(events: Iterable[Event], request: int) -> Parts:
    """The body of one recorded request, taken apart; `Dialect.join` makes it the body.

    Raises:
        BrokenRequest: it is no request, or one that it builds on is missing, circular or of the wrong type.
    """
    return Expander(events).parts(request)


_EMPTY: dict[str, Json] = {"system": None, "tools": None}
_KEPT = 64
"""Requests kept whole: each holds its full history, so keeping all would be quadratic in a long run."""
_NONE = b"null"


def _digest(value: Json) -> bytes:
    """Equal for values that are the same JSON, key order included: the body is rebuilt as it was."""
    return _NONE if value is None else hashlib.sha256(canon.dumps(value)).digest()


def _chain(digests: list[bytes]) -> bytes:
    return hashlib.sha256(b"".join(digests)).digest()


_NOTHING_SENT = {"system": _NONE, "tools": _NONE}
_UNKNOWN = {"system": b"", "tools": b""}


def _size(value: Json) -> int | None:
    return len(value) if isinstance(value, list) else None
