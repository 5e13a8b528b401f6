"""A document as plain text for a terminal."""

from __future__ import annotations

from dataclasses import dataclass

from .. import text as shown
from .document import Block, Bullets, Document, Heading, Line, Paragraph, Quote, Recorded, Table

_INDENT = "  "
_BAR = "  | "
"""In front of every line of recorded text, so that none of it can pass for ours."""


@dataclass(frozen=True, slots=True)
class Paint:
    """What is written before a kind of text, and behind it; nothing that takes room on the screen."""

    heading: str = ""
    recorded: str = ""
    quiet: str = ""
    end: str = ""


PLAIN = Paint()
COLOURS = Paint(heading="\x1b[1m", recorded="\x1b[36m", quiet="\x1b[2m", end="\x1b[0m")
"""Terminal sequences of ours; recorded text cannot hold one, since hidden characters are shown."""


def to_text(document: Document, paint: Paint = PLAIN) -> str:
    """The document as lines of text, ending in a newline."""
    return "\n\n".join(_block(block, paint) for block in document) + "\n"


def _block(block: Block, paint: Paint) -> str:
    match block:
        case Heading(line, level):
            title = _line(line, PLAIN)
            rule = ("=" if level == 1 else "-") * len(title)
            return f"{paint.heading}{title}{paint.end}\n{paint.quiet}{rule}{paint.end}"
        case Paragraph(line):
            return _line(line, paint)
        case Quote(text, limit):
            lines = shown.shorten(shown.visible(text), limit).split("\n")
            return "\n".join(f"{paint.quiet}{_BAR}{paint.end}{paint.recorded}{line}{paint.end}" for line in lines)
        case Bullets(items):
            return "\n".join(f"{_INDENT}- {_line(item, paint)}" for item in items)
        case Table(columns, rows):
            return _table(columns, rows, paint)


def _table(columns: tuple[str, ...], rows: tuple[tuple[Line, ...], ...], paint: Paint) -> str:
    widths = [max(len(_line(cell, PLAIN)) for cell in column) for column in _columns(columns, rows)]
    head = _INDENT.join(name.ljust(width) for name, width in zip(columns, widths, strict=True)).rstrip()
    rule = _INDENT.join("-" * width for width in widths)
    lines = [f"{paint.heading}{head}{paint.end}", f"{paint.quiet}{rule}{paint.end}"]
    for row in rows:
        cells = list(zip(row, widths, strict=True))
        lines.append(_INDENT.join(_padded(cell, width, paint) for cell, width in cells).rstrip())
    return "\n".join(_INDENT + line for line in lines)


def _columns(columns: tuple[str, ...], rows: tuple[tuple[Line, ...], ...]) -> list[list[Line]]:
    return [[(name,), *(row[index] for row in rows)] for index, name in enumerate(columns)]


def _padded(cell: Line, width: int, paint: Paint) -> str:
    return _line(cell, paint) + " " * (width - len(_line(cell, PLAIN)))


def _line(line: Line, paint: Paint) -> str:
    return "".join(
        f"{paint.recorded}{_recorded(part)}{paint.end}" if isinstance(part, Recorded) else part for part in line
    )


def _recorded(part: Recorded) -> str:
    return shown.shorten(" ".join(shown.visible(part.text).split()), part.limit)
