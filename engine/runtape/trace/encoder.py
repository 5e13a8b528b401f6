"""Requests on their way into a trace: only what an earlier request of the file did not hold.

Of the messages, a request stores those behind an earlier request's (`base`, `messages_append`), or, where messages in
the middle changed, ranges of an earlier one's and what stands between (`base`, `messages_parts`), or all of them
(`messages`). `system` and `tools` are stored when they differ from what the last request of the same provider in the
file had; an absent key means unchanged, null means none. Everything else of the body (`model`, `params`) is stored
every time.
"""

from __future__ import annotations

import hashlib
import os
from collections import deque
from dataclasses import dataclass, replace
from typing import Final

from .. import canon
from ..wire.dialect import Dialect
from ..wire.values import Json, JsonObject, Parts
from .growth import Head, head_of


@dataclass(frozen=True, slots=True)
class Conversation:
    """What one request held, as digests."""

    provider: str
    digests: tuple[bytes, ...]
    """One for each message."""
    chain: bytes
    """Digest of all of them in order."""
    head: Head | None = None
    """The bytes up to its last message, where they are known."""
    frame: Parts | None = None
    """The request without its messages, where the head is known."""
    sticky: dict[str, bytes] | None = None
    """Digests of the frame's `system` and `tools`."""


@dataclass(frozen=True, slots=True)
class Delta:
    """A request as it is to be written."""

    fields: JsonObject
    """Payload fields: `model`, `params`, `base`, `messages_append` and so on; `system`, `tools` if new."""
    sticky: dict[str, bytes]
    """Digest of its `system` and `tools`."""
    conversation: Conversation

    @property
    def provider(self) -> str:
        """Whose API it is."""
        return self.conversation.provider


class Encoder:
    """What the requests written so far held, as digests.

    `encode`, writing the event and `remember` are one step under the caller's lock, since `system` and `tools` are
    relative to the request before. A request that was not written must not be remembered.
    """

    def __init__(self) -> None:
        self._forget()

    def encode_body(self, provider: str, dialect: Dialect, body: bytes) -> Delta:
        """The request with this body against the requests remembered; cheap when it goes on from one of them.

        Raises:
            ValueError: the body is no JSON.
            TypeError: it is no object.
        """
        self._begin_anew_in_a_child()
        for event, before in reversed(self._recent):
            if before.head is None or before.frame is None or before.provider != provider:
                continue
            added = before.head.added(body)
            if added is not None:
                return self._continued(
                    event, before, _with_messages(before.frame, added), before.head.grown_only(body), before.sticky
                )
            rest = before.head.rest(body)
            if rest is not None:
                parts = dialect.split(rest)
                return self._continued(event, before, parts, before.head.grown(body, parts.messages), None)
        whole = canon.loads(body)
        if not isinstance(whole, dict):
            raise TypeError(f"a {type(whole).__name__} where an object is expected")
        parts = dialect.split(whole)
        delta = self.encode(provider, parts)
        key = next((name for name in _LISTS if whole.get(name) == parts.messages and parts.messages), None)
        head = None if key is None or len(body) > _LONGEST_HEAD else head_of(body, whole, key, parts.messages)
        known = replace(delta.conversation, head=head, frame=_with_messages(parts, []), sticky=delta.sticky)
        return replace(delta, conversation=known)

    def encode(self, provider: str, parts: Parts) -> Delta:
        """The request against the requests remembered; only the part that is new is copied."""
        self._begin_anew_in_a_child()
        fields, sticky = self._fields(provider, parts)
        digests = tuple(map(_digest, parts.messages))
        chains = [_START]
        for digest in digests:
            chains.append(_link(chains[-1], digest))
        base, shared = self._longest(chains)
        if base is not None:
            fields["base"] = base
            fields["messages_append"] = parts.messages[shared:]
        else:
            fields |= self._pieced(provider, digests, parts.messages)
        fields["params"] = parts.params
        return Delta(fields, sticky, Conversation(provider, digests, chains[-1]))

    def remember(self, event: int, delta: Delta, payload: JsonObject) -> None:
        """Let later requests build on this one, written as `event` with `payload`: `delta.fields` after redaction.

        A redaction that took messages or fields away is noticed, and nothing will build on it.
        """
        if payload.get("provider") == delta.provider and all(
            key in payload and _size(payload[key]) == _size(value) for key, value in delta.fields.items()
        ):
            self._conversations[delta.conversation.chain] = event
            self._recent.append((event, delta.conversation))
            self._sticky[delta.provider] = delta.sticky
        else:
            self._sticky[delta.provider] = _UNKNOWN

    def _begin_anew_in_a_child(self) -> None:
        if self._pid != os.getpid():  # a forked child writes a file of its own, in which no earlier request stands
            self._forget()

    def _forget(self) -> None:
        self._pid = os.getpid()
        self._conversations: dict[bytes, int] = {}
        """The latest request whose messages have a digest."""
        self._recent: deque[tuple[int, Conversation]] = deque(maxlen=_RECENT)
        self._sticky: dict[str, dict[str, bytes]] = {}
        """Digests of the `system` and `tools` that a reader of the file now assumes for a provider."""

    def _continued(
        self, event: int, before: Conversation, parts: Parts, head: Head | None, known: dict[str, bytes] | None
    ) -> Delta:
        """A request of the messages of `before` and then those of `parts`, which has everything else."""
        fields, sticky = self._fields(before.provider, parts, known)
        fields |= {"base": event, "messages_append": [*parts.messages], "params": parts.params}
        digests = tuple(map(_digest, parts.messages))
        chain = before.chain
        for digest in digests:
            chain = _link(chain, digest)
        frame = _with_messages(parts, [])
        return Delta(
            fields, sticky, Conversation(before.provider, before.digests + digests, chain, head, frame, sticky)
        )

    def _fields(
        self, provider: str, parts: Parts, sticky: dict[str, bytes] | None = None
    ) -> tuple[JsonObject, dict[str, bytes]]:
        """What stands in the payload besides messages; `sticky` where the digests are known."""
        fields: JsonObject = {"model": parts.model}
        before = self._sticky.get(provider, _NOTHING_SENT)
        if sticky is None:
            sticky = {"system": _digest(parts.system), "tools": _digest(parts.tools)}
        if sticky["system"] != before["system"]:
            fields["system"] = parts.system
        if sticky["tools"] != before["tools"]:
            fields["tools"] = parts.tools
        return fields, sticky

    def _longest(self, chains: list[bytes]) -> tuple[int | None, int]:
        for length in range(len(chains) - 1, 0, -1):
            base = self._conversations.get(chains[length])
            if base is not None:
                return base, length
        return None, 0

    def _pieced(self, provider: str, digests: tuple[bytes, ...], messages: list[Json]) -> JsonObject:
        """The messages as ranges of a recent request's, where enough of them stand there."""
        best: list[Json] = []
        found, kept = -1, 0
        for event, before in reversed(self._recent):
            if before.provider == provider:
                pieces, count = _pieces(before.digests, digests, messages)
                if count > kept:
                    best, found, kept = pieces, event, count
        if not kept or kept * 2 < len(messages):
            return {"messages": messages}
        return {"base": found, "messages_parts": best}


def _pieces(old: tuple[bytes, ...], new: tuple[bytes, ...], messages: list[Json]) -> tuple[list[Json], int]:
    """`messages` as `{"keep": [first, behind the last]}` and `{"new": [...]}`; and how many are kept."""
    places = {digest: at for at, digest in reversed(list(enumerate(old)))}
    pieces: list[Json] = []
    at, kept = 0, 0
    while at < len(new):
        start = places.get(new[at])
        length = 0
        if start is not None:
            while at + length < len(new) and start + length < len(old) and new[at + length] == old[start + length]:
                length += 1
            pieces.append({"keep": [start, start + length]})
            kept += length
        else:
            length = 1
            while at + length < len(new) and new[at + length] not in places:
                length += 1
            pieces.append({"new": messages[at : at + length]})
        at += length
    return pieces, kept


def _with_messages(parts: Parts, messages: list[Json]) -> Parts:
    return Parts(parts.model, parts.system, messages, parts.tools, parts.params)


_LISTS: Final = ("messages", "input")
"""Where the APIs keep the messages."""
_RECENT: Final = 8
"""Requests looked back on for a beginning with equal bytes or for equal messages: as many agents may take turns."""
_LONGEST_HEAD: Final = 8_000_000
"""Bytes; a longer body is parsed every time, since the bytes of all recent ones are held in memory."""
_NONE: Final = b"null"
_START: Final = b""


def _digest(value: Json) -> bytes:
    """Equal for values that are the same JSON, key order included: the body is rebuilt as it was."""
    return _NONE if value is None else hashlib.blake2b(canon.dumps(value), digest_size=32).digest()


def _link(chain: bytes, digest: bytes) -> bytes:
    return hashlib.blake2b(chain + digest, digest_size=32).digest()


_NOTHING_SENT: Final = {"system": _NONE, "tools": _NONE}
_UNKNOWN: Final = {"system": b"", "tools": b""}


def _size(value: Json) -> int | None:
    return len(value) if isinstance(value, list) else None
