"""Pages of a trace for a coding assistant: text with every recorded word inside a fence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from .fence import MARK, Fence

LIMIT = 6400
"""Characters of recorded text on one page; with what stands around it under 8,000."""
ROW = 160
"""Characters of a row of the timeline."""


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a list."""

    label: str
    """Words of ours: numbers and kinds."""
    text: str
    """Recorded text."""


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of a view is wanted."""

    find: str = ""
    """Only where this text stands."""
    offset: int = 0
    """First row of a list, first character of a text."""
    limit: int | None = None
    """Most rows or characters; None for what fits."""


def text_page(head: str, text: str, part: Part) -> str:
    """A long text, cut to what fits: head and tail from offset 0, from elsewhere a window.

    Args:
        head: What it is, in words of ours and names that are fenced already.
        text: The recorded text.
        part: Which characters.
    """
    fence = Fence()
    shown = fence.clean(text)
    room = min(part.limit or LIMIT, LIMIT)
    first = _first(shown, room * 3 // 4)
    total = f"{len(shown):,} characters"
    if part.offset >= len(shown) > 0:
        return f"{head}\n{total} in all; offset={part.offset} is behind the end. Use a smaller offset."
    if part.offset == 0 and _first(shown, room) == len(shown):
        return f"{head}\n{total}.\n{fence.warning}\n{fence.block(shown)}"
    if part.offset == 0:
        last = len(shown) - _first(shown[::-1], room - room * 3 // 4)
        cut = last - first
        return "\n".join(
            [
                f"{head}\n{total}; {cut:,} of them are cut from the middle. offset={first} goes on from there.",
                fence.warning,
                fence.block(shown[:first]),
                f"({cut:,} characters are cut here.)",
                fence.block(shown[last:]),
            ]
        )
    end = part.offset + _first(shown[part.offset :], room)
    more = f"offset={end} goes on from there." if end < len(shown) else "This is the end."
    where = f"Characters {part.offset:,} to {end:,} of {total}. {more}"
    return f"{head}\n{where}\n{fence.warning}\n{fence.block(shown[part.offset : end])}"


def _first(text: str, room: int) -> int:
    """How many characters of a text fit when every line of it gets its mark; at least one."""
    taken = 0
    for at, character in enumerate(text[:room]):
        taken += 1 + (len(MARK) if character == "\n" else 0)
        if taken > room:
            return max(1, at)
    return min(len(text), room)


def row_page(head: str, items: Sequence[T], row_of: Callable[[T], Row], part: Part, *, width: int = ROW) -> str:
    """Rows of a list, as many as fit.

    Args:
        head: What they are, in words of ours.
        items: All of the list.
        row_of: The row of one item; called for those that are shown.
        part: Which of them.
        width: Most characters of a row's recorded text.
    """
    fence = Fence()
    lines: list[str] = []
    room = LIMIT
    for at in range(part.offset, len(items)):  # a slice of a large trace would be every event behind
        row = row_of(items[at])
        line = f"{row.label} {fence.short(row.text, width)}".rstrip()
        room -= len(line) + 3
        if room < 0 or len(lines) == part.limit:
            break
        lines.append(line)
    total = len(items)
    if not lines:
        return f"{head}\nNothing to show from offset={part.offset}; there are {total:,}."
    end = part.offset + len(lines)
    more = f" offset={end} goes on." if end < total else ""
    where = f"{part.offset + 1:,} to {end:,} of {total:,}.{more}"
    return f"{head}\n{where}\n{fence.warning}\n{fence.block(chr(10).join(lines))}"
