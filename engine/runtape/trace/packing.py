"""Long texts stored once: a text that an earlier event of the file holds, whole or in part, is a reference to it there.

In a packed event (`"packed": true` in its meta) an object `{"$text": [event, path, parts]}` stands for a text. `path`
leads to a text in the payload of that earlier event, itself unpacked; `parts` are texts, and `[start, end]` ranges of
characters of that text, which give the text when they are joined. A prompt that changes in one line every turn is so
stored as that line, and an image once.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from ..errors import BrokenRequest
from ..wire.values import Json, JsonObject

PACKED: Final = "packed"
"""Name of the mark in the meta of an event that holds references."""
_TEXT: Final = "$text"
_SHORTEST: Final = 400
"""Characters of a text worth a reference."""
_WHOLE: Final = 4_000
"""Characters from which an equal text is looked for among all earlier ones and not only among recent ones."""
_LONGEST_COMPARED: Final = 400_000
"""Characters from which a text is only stored whole or as equal to another."""
_RECENT: Final = 12
_KNOWN: Final = 4_096
_DEEPEST: Final = 40
"""References behind one another; a reader follows them all."""

Path: TypeAlias = "tuple[str | int, ...]"


@dataclass(frozen=True, slots=True)
class _Place:
    event: int
    path: Path
    depth: int
    """References to be followed to get there."""


class Packer:
    """Long texts of the events written so far. `pack`, writing and `remember` are one step under the caller's lock."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._pid = os.getpid()
        self._equal: OrderedDict[bytes, _Place] = OrderedDict()
        self._recent: deque[tuple[str, _Place]] = deque(maxlen=_RECENT)
        self._waiting: list[tuple[str, Path, int]] = []

    def pack(self, payload: JsonObject) -> tuple[JsonObject, bool]:
        """The payload with references for its long texts, and whether it has any; shares what did not change."""
        if self._pid != os.getpid():  # a forked child writes a file of its own
            self._forget()
        self._waiting = []
        if not _holds_long_text(payload) or _holds_mark(payload):
            return payload, False
        packed = self._packed(payload, ())
        return (packed, packed is not payload) if isinstance(packed, dict) else (payload, False)

    def remember(self, event: int) -> None:
        """Let later events refer to the one just packed, which was written as `event`."""
        for text, path, depth in self._waiting:
            place = _Place(event, path, depth)
            if len(text) >= _WHOLE:
                self._equal[_digest(text)] = place
                if len(self._equal) > _KNOWN:
                    self._equal.popitem(last=False)
            if len(text) <= _LONGEST_COMPARED:
                self._recent.append((text, place))

    def _packed(self, value: Json, path: Path) -> Json:
        if isinstance(value, str):
            return value if len(value) < _SHORTEST else self._text(value, path)
        if isinstance(value, list):
            items = [self._packed(item, (*path, at)) for at, item in enumerate(value)]
            return value if all(map(_is_same, items, value)) else items
        if isinstance(value, dict):
            members = {key: self._packed(item, (*path, key)) for key, item in value.items()}
            return value if all(members[key] is value[key] for key in value) else members
        return value

    def _text(self, text: str, path: Path) -> Json:
        equal = self._equal.get(_digest(text)) if len(text) >= _WHOLE else None
        if equal is not None:
            return _reference(equal, [[0, len(text)]])
        best: list[Json] | None = None
        found: _Place | None = None
        cost = len(text) // 2
        if len(text) <= _LONGEST_COMPARED:
            for old, place in reversed(self._recent):
                if place.depth < _DEEPEST and _resembles(old, text):
                    parts = _parts(old, text)
                    size = sum(len(part) + 3 if isinstance(part, str) else 14 for part in parts)
                    if size < cost:
                        best, found, cost = parts, place, size
        self._waiting.append((text, path, 0 if found is None else found.depth + 1))
        return text if found is None or best is None else _reference(found, best)


def unpacked(payload: JsonObject, text_at: Callable[[int, Path], str]) -> JsonObject:
    """A payload with its references put back; `text_at` gives the text at a path of an earlier event's payload.

    Raises:
        BrokenRequest: a reference leads to no text.
    """
    found = _unpacked(payload, text_at)
    return found if isinstance(found, dict) else payload


def text_in(payload: JsonObject, event: int, path: Path) -> str:
    """The text at a path of an unpacked payload.

    Raises:
        BrokenRequest: there is none.
    """
    value: Json = payload
    for step in path:
        if isinstance(value, dict):
            value = value.get(step) if isinstance(step, str) else None
        elif isinstance(value, list):
            value = value[step] if isinstance(step, int) and 0 <= step < len(value) else None
        else:
            value = None
    if not isinstance(value, str):
        raise BrokenRequest(
            f"event {event} has no text at {'/'.join(map(str, path))}, where a later event refers to one"
        )
    return value


def _unpacked(value: Json, text_at: Callable[[int, Path], str]) -> Json:
    match value:
        case {"$text": [int(event), list(path), list(parts)], **others} if not others:
            old = text_at(event, tuple(step for step in path if isinstance(step, (str, int))))
            return "".join(_piece(part, old, event) for part in parts)
        case list():
            return [_unpacked(item, text_at) for item in value]
        case dict():
            return {key: _unpacked(item, text_at) for key, item in value.items()}
        case _:
            return value


def _piece(part: Json, old: str, event: int) -> str:
    match part:
        case str():
            return part
        case [int(start), int(end)] if 0 <= start <= end <= len(old):
            return old[start:end]
        case _:
            raise BrokenRequest(f"a reference to event {event} names characters that its text has not")


def _reference(place: _Place, parts: list[Json]) -> Json:
    return {_TEXT: [place.event, list(place.path), parts]}


def _holds_long_text(value: Json) -> bool:
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            if len(item) >= _SHORTEST:
                return True
        elif isinstance(item, dict):
            left.extend(item.values())
        elif isinstance(item, list):
            left.extend(item)
    return False


def _holds_mark(value: Json) -> bool:
    """True when the program itself uses the name that stands for a reference."""
    if isinstance(value, dict):
        return _TEXT in value or any(map(_holds_mark, value.values()))
    return isinstance(value, list) and any(map(_holds_mark, value))


def _is_same(one: object, other: object) -> bool:
    return one is other


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _resembles(old: str, new: str) -> bool:
    """A cheap look: the same beginning, end or middle."""
    return (
        old[:_SEEN] == new[:_SEEN]
        or old[-_SEEN:] == new[-_SEEN:]
        or new[len(new) // 2 : len(new) // 2 + _SEEN] in old
        or new[len(new) // 4 : len(new) // 4 + _SEEN] in old
    )


_SEEN: Final = 48


def _parts(old: str, new: str) -> list[Json]:
    """`new` as ranges of `old` and what stands between them, cut at the ends of lines and long pieces of them."""
    first = _common(old, new)
    most = min(len(old), len(new)) - first
    last = _common(old[: -most - 1 : -1] if most else "", new[: -most - 1 : -1] if most else "")
    parts: list[Json] = [[0, first]] if first else []
    end = first
    old_middle, new_middle = old[first : len(old) - last], new[first : len(new) - last]
    where = {line: at for at, line in _lines(old_middle)}
    for _, line in _lines(new_middle):
        previous = parts[-1] if parts else None
        if isinstance(previous, list) and old.startswith(line, end):
            parts[-1] = [previous[0], end + len(line)]
            end += len(line)
        elif line in where and len(line) >= _LINE:
            start = first + where[line]
            end = start + len(line)
            parts.append([start, end])
        elif isinstance(previous, str):
            parts[-1] = previous + line
        else:
            parts.append(line)
    if last:
        parts.append([len(old) - last, len(old)])
    return parts


_LINE: Final = 24
"""Characters of a line worth a range."""


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The sentences and lines of a text, and where each begins."""
    at = 0
    for found in _ENDS.finditer(text):
        yield at, text[at : found.end()]
        at = found.end()
    if at < len(text):
        yield at, text[at:]


_ENDS: Final = re.compile(r"\n|[.!?;] ")


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
