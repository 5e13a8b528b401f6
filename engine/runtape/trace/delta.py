"""Requests put together again out of the deltas that a trace stores; `encoder` writes them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ..errors import BrokenRequest
from ..wire.values import Json, Parts
from .events import Event
from .sticky import NO_SOURCES, Sources, stored_field

_KEPT = 64
"""Requests kept whole: each holds its full history, so keeping all would be quadratic in a long run."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one request added to a conversation."""

    event: int
    messages: list[Json]


_M = TypeVar("_M")


@dataclass(frozen=True, slots=True)
class _Stored:
    """The messages that one request event stores."""

    base: int | None
    pieces: list[Json] | None
    """What to make of the messages of the base; None: `added` behind all of them."""
    added: list[Json]

    @classmethod
    def of(cls, event: Event) -> _Stored:
        """Raises BrokenRequest when they are of the wrong shape."""
        payload = event.payload
        base = payload.get("base")
        if not isinstance(base, (int, type(None))):
            raise BrokenRequest(f"event {event.id}: `base` is not an event number")
        key = "messages" if base is None else "messages_parts" if "messages_parts" in payload else "messages_append"
        messages = payload.get(key)
        if not isinstance(messages, list):
            raise BrokenRequest(f"event {event.id}: `{key}` is not a list")
        if key != "messages_parts":
            return cls(base, None, messages)
        if not all(_is_piece(piece) for piece in messages):
            raise BrokenRequest(f"event {event.id}: `{key}` holds something that is neither `keep` nor `new`")
        return cls(base, messages, [])

    def onto(self, before: list[_M], wrap: Callable[[Json], _M], event: int) -> list[_M]:
        """The messages of the request `event`, out of those of its base.

        Raises:
            BrokenRequest: it keeps messages that the base has not.
        """
        if self.pieces is None:
            before += map(wrap, self.added)
            return before
        whole: list[_M] = []
        for piece in self.pieces:
            match piece:
                case {"keep": [int(first), int(behind)]}:
                    if behind > len(before):
                        raise BrokenRequest(f"event {event} keeps {behind} messages of one that has {len(before)}")
                    whole += before[first:behind]
                case {"new": list(new)}:
                    whole += map(wrap, new)
                case _:
                    pass
        return whole


def _brought_by(event: int) -> Callable[[Json], tuple[int, Json]]:
    return lambda message: (event, message)


def _is_piece(piece: Json) -> bool:
    match piece:
        case {"keep": [int(first), int(behind)]}:
            return 0 <= first <= behind
        case {"new": list()}:
            return True
        case _:
            return False


class Requests(Protocol):
    """The requests of a trace, wherever they are kept."""

    def request(self, number: int) -> Event | None:
        """The request of that number, if its content is there."""
        ...

    def sources(self, number: int) -> Sources:
        """The events that its system prompt and its tools stand in."""
        ...


class Listed:
    """Requests in memory."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._requests: dict[int, Event] = {}
        self._sources: dict[int, Sources] = {}
        last: dict[str, Sources] = {}
        for event in events:
            if event.type != "llm_request" or "dropped" in event.payload:
                continue
            provider = str(event.payload.get("provider"))
            before = last.get(provider, NO_SOURCES)
            system = event if "system" in event.payload else before.system
            last[provider] = Sources(system, event if "tools" in event.payload else before.tools)
            self._requests[event.id] = event
            self._sources[event.id] = last[provider]

    def request(self, number: int) -> Event | None:
        """See `Requests`."""
        return self._requests.get(number)

    def sources(self, number: int) -> Sources:
        """See `Requests`."""
        return self._sources.get(number, NO_SOURCES)


class Expander:
    """Requests of one trace put together again; each is worked out once."""

    def __init__(self, requests: Requests) -> None:
        self._requests = requests
        self._messages: dict[int, list[Json]] = {}

    def parts(self, request: int) -> Parts:
        """The request as it was sent.

        Raises:
            BrokenRequest: it is no request, or one that it builds on is missing, circular or of the wrong shape.
        """
        payload = self._request(request).payload
        model, params = payload.get("model"), payload.get("params")
        if not isinstance(model, (str, type(None))) or not isinstance(params, (dict, type(None))):
            raise BrokenRequest(f"event {request}: `model` must be text and `params` an object")
        return Parts(model, self.system(request), list(self._whole(request)), self.tools(request), params or {})

    def system(self, request: int) -> Json:
        """The system prompt outside the messages; None also when the request has no content."""
        return stored_field(self._requests.sources(request).system, "system")

    def tools(self, request: int) -> Json:
        """The tools that the request offers; None also when the request has no content."""
        return stored_field(self._requests.sources(request).tools, "tools")

    def history(self, request: int) -> list[Step]:
        """The requests that this one builds on, each with the messages that it added and that are still there.

        In the order of the messages, so that together they are those of the request.

        Raises:
            BrokenRequest: one of them is missing, circular or of the wrong shape.
        """
        whole: list[tuple[int, Json]] = []
        for at, stored in self._stored(request, ()):
            whole = stored.onto(whole, _brought_by(at), at)
        steps = [Step(request, [])] if not whole else []
        for at, message in whole:
            if not steps or steps[-1].event != at:
                steps.append(Step(at, []))
            steps[-1].messages.append(message)
        return steps if steps[-1].event == request else [*steps, Step(request, [])]

    def _whole(self, request: int) -> list[Json]:
        stored = self._stored(request, self._messages)
        if not stored:
            return self._messages[request]
        base = stored[0][1].base
        whole = [] if base is None else list(self._messages[base])
        for at, part in stored:
            whole = part.onto(whole, lambda message: message, at)
        if len(self._messages) >= _KEPT:
            del self._messages[next(iter(self._messages))]
        self._messages[request] = whole
        return whole

    def _stored(self, request: int, known: Collection[int]) -> list[tuple[int, _Stored]]:
        """What the request and those that it builds on store, oldest first, back to one of those known."""
        found: dict[int, _Stored] = {}
        at: int | None = request
        while at is not None and at not in known:
            if at in found:
                raise BrokenRequest(
                    f"event {request} cannot be put together: it builds on itself, by way of event {at}"
                )
            found[at] = _Stored.of(self._request(at, by=request))
            at = found[at].base
        return list(reversed(found.items()))

    def _request(self, number: int, by: int | None = None) -> Event:
        found = self._requests.request(number)
        if found is None:
            whose = f"event {number}" if by in (None, number) else f"event {number}, on which event {by} builds,"
            raise BrokenRequest(f"{whose} is not in this trace as a request with its content")
        return found
