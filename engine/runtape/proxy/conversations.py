"""Which conversation a request belongs to, told by the messages that it repeats."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ..canon import digest
from ..wire.dialect import Dialect
from ..wire.values import Json, JsonObject

KEPT = 64
"""Conversations that can be continued; the one unused for longest makes room."""

T = TypeVar("T")


@dataclass(eq=False)
class Conversation(Generic[T]):
    """Requests that belong to one run."""

    run: T
    name: str | None = None
    """The name that the client gave it; None where it is known by its messages."""
    history: tuple[str, ...] = ()
    """One digest a message of its longest request."""
    replies: set[str] = field(default_factory=set[str])
    """Ids by which a later request can refer to its replies."""


class Conversations(Generic[T]):
    """The conversations of one proxy, in order of use."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, Conversation[T]] = OrderedDict()

    def find(self, dialect: Dialect, body: JsonObject, name: str | None, *, retried: bool) -> Conversation[T] | None:
        """The conversation that a request goes on with; None when it begins one.

        By its name where the client gives one. Else by the reply that it refers to, or by its messages: it goes on with
        the conversation of whose last request it repeats all messages and adds some. An equal request goes on only if
        it is `retried`, a further attempt of an SDK; else two runs have begun alike.
        """
        if name is not None:
            found = next((known for known in self._known.values() if known.name == name), None)
        else:
            found = self._continued(dialect, body, retried=retried)
        if found is not None:
            self._known.move_to_end(id(found))
        return found

    def add(self, run: T, name: str | None) -> tuple[Conversation[T], list[Conversation[T]]]:
        """A new conversation, and those that made room for it: nothing can continue them any more."""
        begun = Conversation(run, name)
        self._known[id(begun)] = begun
        gone: list[Conversation[T]] = []
        while len(self._known) > KEPT:
            gone.append(self._known.popitem(last=False)[1])
        return begun, gone

    def all(self) -> list[Conversation[T]]:
        """Every conversation that is kept, the one used last at the end."""
        return list(self._known.values())

    @staticmethod
    def went_on(conversation: Conversation[T], dialect: Dialect, body: JsonObject) -> None:
        """Note the request that a conversation was continued with."""
        history = _history(dialect, body)
        if len(history) >= len(conversation.history):
            conversation.history = history

    def _continued(self, dialect: Dialect, body: JsonObject, *, retried: bool) -> Conversation[T] | None:
        unnamed = [known for known in reversed(self._known.values()) if known.name is None]
        earlier = body.get("previous_response_id")
        if isinstance(earlier, str):
            return next((known for known in unnamed if earlier in known.replies), None)
        history = _history(dialect, body)
        longest: Conversation[T] | None = None
        for known in unnamed:
            size = len(known.history)
            repeated = 0 < size < len(history) + retried and history[:size] == known.history
            if repeated and (longest is None or size > len(longest.history)):
                longest = known
        return longest


def _history(dialect: Dialect, body: JsonObject) -> tuple[str, ...]:
    parts = dialect.split(body)
    head: list[Json] = [dialect.api, parts.system]
    return tuple(map(digest, [head, *parts.messages]))
