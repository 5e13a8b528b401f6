"""A document as Markdown in which recorded text cannot act as markup."""

from __future__ import annotations

import re

from .. import text as shown
from .document import Block, Bullets, Document, Heading, Line, Paragraph, Quote, Recorded, Table


def to_markdown(document: Document) -> str:
    """The document as Markdown, ending in a newline."""
    return "\n\n".join(_block(block) for block in document) + "\n"


def _block(block: Block) -> str:
    match block:
        case Heading(line, level):
            return f"{'#' * level} {_line(line)}"
        case Paragraph(line):
            return _line(line)
        case Quote(text, limit):
            body = shown.shorten(shown.visible(text), limit)
            fence = "`" * max(3, _longest_backticks(body) + 1)
            return f"{fence}text\n{body}\n{fence}"
        case Bullets(items):
            return "\n".join(f"- {_line(item)}" for item in items)
        case Table(columns, rows):
            lines = [columns, tuple("---" for _ in columns), *(tuple(_cell(cell) for cell in row) for row in rows)]
            return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(line: Line) -> str:
    # A table row is split at every bar before code spans are read, so bars are escaped inside code too.
    return _line(line).replace("|", "\\|")


def _line(line: Line) -> str:
    return "".join(_code(part) if isinstance(part, Recorded) else part for part in line)


def _code(part: Recorded) -> str:
    body = shown.shorten(" ".join(shown.visible(part.text).split()), part.limit)
    if not body:
        return "(empty)"
    fence = "`" * (_longest_backticks(body) + 1)
    # CommonMark strips one space on each side; without it a leading backtick would join the fence.
    pad = " " if body[0] == "`" or body[-1] == "`" else ""
    return f"{fence}{pad}{body}{pad}{fence}"


def _longest_backticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
