"""A report as blocks, before anything decides how it looks.

Text of ours is `str`; text of a trace is `Recorded`, so that a renderer can show hidden characters, shorten it and keep
it from being read as markup.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ..said import Quoted, parts_of


@dataclass(frozen=True, slots=True)
class Recorded:
    """A short piece of recorded text inside a line."""

    text: str
    limit: int = 120
    """Characters shown."""


Line: TypeAlias = tuple[str | Recorded, ...]
"""One run of text; the parts follow each other without a space."""


def told(text: str, limit: int) -> Line:
    """A text that may quote as a line: what it quotes is recorded text of at most `limit` characters."""
    return tuple(Recorded(part, limit) if isinstance(part, Quoted) else part for part in parts_of(text))


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of the report (level 1) or of a section (level 2)."""

    line: Line
    level: int = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Some sentences."""

    line: Line


@dataclass(frozen=True, slots=True)
class Quote:
    """Recorded text on lines of its own."""

    text: str
    limit: int = 1200
    """Characters shown."""


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    items: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under column names."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]


Block: TypeAlias = Heading | Paragraph | Quote | Bullets | Table
Document: TypeAlias = tuple[Block, ...]
