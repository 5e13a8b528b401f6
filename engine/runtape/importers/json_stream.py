"""The records of a JSON file of any size, one after another.

A file may be one list, one object around a list, one value per line, or several values one after another, pretty
printed or not. Values are parsed one by one with a tolerant parser; one that does not parse is told of in its place.
Of an object that holds long lists, the lists named in `opened` are given out element by element, before the object
itself, which then has them empty.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import BinaryIO, Final

from ..wire.values import Json
from .json_cut import CHUNK, LONGEST, Record, Splitter, closed, leads, parsed_json

__all__ = ["Record", "records"]

_BOM: Final = b"\xef\xbb\xbf"


def records(stream: BinaryIO, opened: Collection[str] = ()) -> Iterator[Record]:
    """Every record of a stream, in order.

    Args:
        stream: Bytes in UTF-8 from the beginning of the file.
        opened: Paths of lists inside of objects whose elements are records: `observations`, `log.entries`.
    """
    head = stream.read(CHUNK).removeprefix(_BOM)
    if _is_lines(head):
        yield from _lines(head, stream, frozenset(opened))
    else:
        yield from Splitter(frozenset(opened), by_line=b"\n" not in head.strip()).split(head, stream)


def _is_lines(head: bytes) -> bool:
    """True when the file has one value per line: its first line is one, or was torn and the next two are."""
    lines = [line for line in head.split(b"\n")[:20] if line.strip()]
    if len(lines) < 2:
        return False
    if _parses(lines[0]):
        return True
    return len(lines) > 3 and lines[0].lstrip()[:2] == b'{"' and all(map(_parses, lines[1:3]))


def _parses(line: bytes) -> bool:
    try:
        return isinstance(parsed_json(line), (dict, list))
    except ValueError:
        return False


def _lines(head: bytes, stream: BinaryIO, opened: frozenset[str]) -> Iterator[Record]:
    number = 0
    rest = head
    pieces: list[bytes] = []
    size = 0
    while True:
        *whole, rest = rest.split(b"\n")
        for line in whole:
            number += 1
            yield from _line(b"".join((*pieces, line)), number, opened)
            pieces, size = [], 0
        pieces.append(rest)
        size += len(rest)
        if size > LONGEST:
            yield Record(f"line {number + 1}", None, problem=f"it is longer than {LONGEST >> 20} MB")
            return
        rest = stream.read(CHUNK)
        if not rest:
            break
    if last := b"".join(pieces).strip():
        yield from _line(last, number + 1, opened)


def _line(line: bytes, number: int, opened: frozenset[str]) -> Iterator[Record]:
    text = line.strip()
    if not text:
        return
    place = f"line {number}"
    try:
        value = parsed_json(text)
    except ValueError as error:
        repaired = closed(text)
        yield Record(place, repaired, problem=f"it is not JSON: {error}")
        return
    yield from exploded(place, value, opened)


def exploded(place: str, value: Json, opened: frozenset[str]) -> Iterator[Record]:
    """A parsed value as the records that reading it piece by piece would give."""
    if isinstance(value, list):
        for index, item in enumerate(value, 1):
            yield from _element(f"{place}, element {index}", item, "", opened)
    else:
        yield from _element(place, value, "", opened)


def _element(place: str, value: Json, path: str, opened: frozenset[str], around: Json = None) -> Iterator[Record]:
    if isinstance(value, dict) and opened:
        lists: list[tuple[str, list[Json]]] = []
        value = _emptied(value, path, opened, lists)
        for within, items in lists:
            for index, item in enumerate(items, 1):
                yield from _element(f"{place}, {within.rpartition('.')[2]} {index}", item, within, opened, value)
    yield Record(place, value, path, around=around)


def _emptied(
    value: dict[str, Json], path: str, opened: frozenset[str], lists: list[tuple[str, list[Json]]]
) -> dict[str, Json]:
    """`value` with its opened lists empty; they are put into `lists`."""
    kept: dict[str, Json] = {}
    for key, item in value.items():
        below = f"{path}.{key}" if path else key
        if isinstance(item, list) and below in opened:
            lists.append((below, item))
            kept[key] = []
        elif isinstance(item, dict) and leads(below, opened):
            kept[key] = _emptied(item, below, opened, lists)
        else:
            kept[key] = item
    return kept
