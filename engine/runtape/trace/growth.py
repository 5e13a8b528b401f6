"""Request bodies that only grew: known by their bytes, so that what was already looked at is not parsed again.

An agent sends its whole history with every call. The bytes up to the end of the last message are then the same as the
call before, and only what follows them has to be read. That the bytes are those of the top-level list of messages is
proved once per conversation, by parsing the body with that list emptied; equal bytes before a place leave a parser in
the same state there, so what holds for one body holds for every body that begins like it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from .. import canon
from ..wire.values import Json, JsonObject


@dataclass(frozen=True, slots=True)
class Head:
    """A body up to the end of its last message."""

    raw: bytes
    opened: int
    """Bytes up to and with the bracket that opens the list of messages."""
    key: str
    """Under which the body has them."""
    after: bytes
    """What followed."""

    def added(self, body: bytes) -> list[Json] | None:
        """The messages that `body` has more; None when it does not go on from here, or anything else in it changed."""
        start, end = len(self.raw), len(body) - len(self.after)
        if end < start or not body.startswith(self.raw) or not body.endswith(self.after):
            return None
        if end == start:
            return []
        if body[start : start + 1] != b",":
            return None
        try:
            found = canon.loads(b"[" + body[start + 1 : end] + b"]")
        except ValueError:
            return None
        # A message that is a bare text would be read otherwise if it stood alone.
        return found if isinstance(found, list) and found and all(isinstance(one, dict) for one in found) else None

    def rest(self, body: bytes) -> JsonObject | None:
        """`body` with only the messages that `self` has not; None when it does not go on from here."""
        at = len(self.raw)
        if not body.startswith(self.raw) or body[at : at + 1] not in (b",", b"]"):
            return None
        tail = body[at:].removeprefix(b",")
        # A second list of that name, plainly or with its letters escaped, would count in place of the first.
        if f'"{self.key}"'.encode() in tail or b"\\u006" in tail or b"\\u007" in tail:
            return None
        return _object(body[: self.opened] + tail)

    def grown(self, body: bytes, new: list[Json]) -> Head | None:
        """The head of `body`, which goes on from here with `new`."""
        end = _end(body, len(self.raw) + 1, new) if new else len(self.raw)
        return None if end is None else Head(body[:end], self.opened, self.key, body[end:])

    def grown_only(self, body: bytes) -> Head:
        """The head of `body`, in which nothing but messages is new."""
        return Head(body[: len(body) - len(self.after)], self.opened, self.key, self.after)


def head_of(body: bytes, parsed: JsonObject, key: str, messages: list[Json]) -> Head | None:
    """The head of a body that was parsed whole; None when it is spelled in a way that is not followed."""
    if not messages:
        return None
    name = f'"{key}"'.encode()
    at = body.find(name)
    while at >= 0:
        opened = _opened(body, at + len(name))
        end = None if opened is None else _end(body, opened, messages)
        if opened is not None and end is not None:
            empty = _object(body[:opened] + body[end:])
            if empty is not None and _is_emptied(empty, parsed, key):
                return Head(body[:end], opened, key, body[end:])
        at = body.find(name, at + 1)
    return None


def _object(data: bytes) -> JsonObject | None:
    try:
        found = canon.loads(data)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _opened(body: bytes, at: int) -> int | None:
    """Behind `: [`."""
    start = body[at : at + _BLANKS]
    left = start.lstrip(b" \n\r\t")
    if not left.startswith(b":"):
        return None
    left = left[1:].lstrip(b" \n\r\t")
    return at + len(start) - len(left) + 1 if left.startswith(b"[") else None


_BLANKS = 16


def _end(body: bytes, at: int, messages: list[Json]) -> int | None:
    """Where the last of `messages`, which begin at `at`, ends; None when something else stands there."""
    compact = canon.dumps(messages)[1:-1]
    if body.startswith(compact, at):
        return at + len(compact)
    try:
        text = body[at:].decode("utf-8")
        place = 0
        for number in range(len(messages)):
            place = _skip(text, place, "," if number else "")
            _, place = _DECODER.raw_decode(text, place)
    except (ValueError, RecursionError):
        return None
    return at + (place if text.isascii() else len(text[:place].encode("utf-8")))


def _skip(text: str, place: int, mark: str) -> int:
    while text[place : place + 1] in _SPACE:
        place += 1
    if not mark:
        return place
    if text[place : place + 1] != mark:
        raise ValueError(place)
    return _skip(text, place + 1, "")


_SPACE = frozenset(" \n\r\t")
_DECODER = json.JSONDecoder()


def _is_emptied(empty: JsonObject, parsed: JsonObject, key: str) -> bool:
    if empty.get(key) != [] or list(empty) != list(parsed):
        return False
    return all(canon.dumps(empty[name]) == canon.dumps(parsed[name]) for name in parsed if name != key)
