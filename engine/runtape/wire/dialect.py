"""How one provider API spells requests, replies and text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from .values import Json, JsonObject, Parts, Reply, Slot


class UnreadableReply(ValueError):
    """Raised when a response body is not an answer of this API (an error object, no choices, wrong types)."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """A streamed response put together."""

    body: JsonObject
    """What the same call would have returned without streaming, as far as the stream went."""
    complete: bool
    """False when the stream stopped before its own end mark."""


class Dialect(Protocol):
    """One file beside this one implements it for each API. Stateless; never edits an argument.

    Laws, held by one conformance suite for every dialect: `join(split(body)) == body`;
    `put(body, slot, slot.text) == body` for every slot; `put` changes nothing outside the slot. `editing.without` takes
    the tools' descriptions and reasoning out for good.
    """

    api: str
    path: str
    """How the URL path of a call ends, such as `/chat/completions`."""

    def split(self, body: JsonObject) -> Parts:
        """The body taken apart."""
        ...

    def join(self, parts: Parts) -> JsonObject:
        """The body put together again; inverse of `split`."""
        ...

    def slots(self, body: JsonObject) -> list[Slot]:
        """Every part of the request that can be changed, in context order: system, messages, definitions of tools."""
        ...

    def put(self, body: JsonObject, slot: Slot, text: str) -> JsonObject:
        """The body with `text` in place of the slot's text; a block becomes a block of text, its cache mark kept.

        Raises:
            ValueError: the slot is not of this body, the text is no JSON where only JSON can stand, or it would change
                what a model thought.
        """
        ...

    def system_text(self, body: JsonObject) -> str | None:
        """The system prompt as one text; None when there is none."""
        ...

    def with_system(self, body: JsonObject, text: str) -> JsonObject:
        """The body with `text` as its whole system prompt."""
        ...

    def replies(self, body: Json) -> list[Reply]:
        """The answers in a response body: one per choice, in order.

        Raises:
            UnreadableReply: the body is not an answer.
        """
        ...

    def assemble(self, events: Iterable[Json]) -> Assembled:
        """The response that the decoded data of a stream's events add up to."""
        ...

    def streamed(self, body: JsonObject, *, complete: bool) -> list[Json]:
        """The data of events that `assemble` puts together to `body`; without the end mark when not `complete`."""
        ...

    def for_rerun(self, body: JsonObject) -> tuple[JsonObject, tuple[str, ...]]:
        """The body as it is sent again, and the names of what was left out (streaming, seeds: transport only)."""
        ...

    def with_samples(self, body: JsonObject, n: int) -> JsonObject | None:
        """The body asking for n answers in one response; None where the API has no such parameter."""
        ...
