"""A document as Markdown in which recorded text cannot act as markup."""

from __future__ import annotations

from typing import Protocol

from .document import Block, Bullets, Document, Heading, Line, Paragraph, Quote, Recorded, Table


class Quoting(Protocol):
    """How recorded text appears. What it makes is Markdown, and keeps the text from acting as such."""

    def show(self, text: str, limit: int) -> str:
        """Inside a line: on that line, at most `limit` characters of the text."""
        ...

    def block(self, text: str, limit: int) -> str:
        """On lines of its own, at most `limit` characters of the text."""
        ...


def to_markdown(document: Document, quoting: Quoting) -> list[str]:
    """Each block of the document as Markdown, without a newline at its end; join them with an empty line."""
    return [_block(block, quoting) for block in document]


def _block(block: Block, quoting: Quoting) -> str:
    match block:
        case Heading(line, level):
            return f"{'#' * level} {_line(line, quoting)}"
        case Paragraph(line):
            return _line(line, quoting)
        case Quote(text, limit):
            return quoting.block(text, limit)
        case Bullets(items):
            return "\n".join(f"- {_line(item, quoting)}" for item in items)
        case Table(columns, rows):
            lines = [
                columns,
                tuple("---" for _ in columns),
                *(tuple(_cell(cell, quoting) for cell in row) for row in rows),
            ]
            return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(line: Line, quoting: Quoting) -> str:
    # A table row is split at every bar before code spans are read, so bars are escaped inside code too.
    return _line(line, quoting).replace("|", "\\|")


def _line(line: Line, quoting: Quoting) -> str:
    return "".join(quoting.show(part.text, part.limit) if isinstance(part, Recorded) else part for part in line)
