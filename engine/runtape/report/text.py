"""A document as plain text for a terminal."""

from __future__ import annotations

from .. import text as shown
from .document import Block, Bullets, Document, Heading, Line, Paragraph, Quote, Recorded, Table

_INDENT = "  "
_BAR = "  | "
"""In front of every line of recorded text, so that none of it can pass for ours."""


def to_text(document: Document) -> str:
    """The document as lines of text, ending in a newline."""
    return "\n\n".join(_block(block) for block in document) + "\n"


def _block(block: Block) -> str:
    match block:
        case Heading(line, level):
            title = _line(line)
            return title + "\n" + ("=" if level == 1 else "-") * len(title)
        case Paragraph(line):
            return _line(line)
        case Quote(text, limit):
            lines = shown.shorten(shown.visible(text), limit).split("\n")
            return "\n".join(_BAR + line for line in lines)
        case Bullets(items):
            return "\n".join(f"{_INDENT}- {_line(item)}" for item in items)
        case Table(columns, rows):
            return _table(columns, rows)


def _table(columns: tuple[str, ...], rows: tuple[tuple[Line, ...], ...]) -> str:
    cells = [list(columns), *([_line(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    lines = [_INDENT.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    lines.insert(1, _INDENT.join("-" * width for width in widths))
    return "\n".join(_INDENT + line for line in lines)


def _line(line: Line) -> str:
    return "".join(_recorded(part) if isinstance(part, Recorded) else part for part in line)


def _recorded(part: Recorded) -> str:
    return shown.shorten(" ".join(shown.visible(part.text).split()), part.limit)
