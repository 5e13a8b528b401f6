"""Reports as Markdown in which every recorded text is fenced."""

from __future__ import annotations

from runtape.report.document import Block, Bullets, Document, Heading, Line, Paragraph, Quote, Recorded, Table

from .fence import Fence


def to_fenced(document: Document, fence: Fence, *, limit: int, elsewhere: str) -> str:
    """As many blocks of a document as fit.

    Args:
        document: The report.
        fence: The fence of the answer it becomes part of.
        limit: Most characters; blocks are left out whole, so that no fence is cut open.
        elsewhere: Where the rest can be read; said when something was left out.
    """
    shown: list[str] = []
    room = limit - 2 * len(elsewhere)
    for number, block in enumerate(document):
        text = _block(block, fence)
        if len(text) > room:
            shown.append(f"{len(document) - number} more parts are in {elsewhere}.")
            break
        shown.append(text)
        room -= len(text) + 2
    return "\n\n".join(shown)


def _block(block: Block, fence: Fence) -> str:
    match block:
        case Heading(line, level):
            return f"{'#' * level} {_line(line, fence)}"
        case Paragraph(line):
            return _line(line, fence)
        case Quote(text, limit):
            return fence.block(text, limit)
        case Bullets(items):
            return "\n".join(f"- {_line(item, fence)}" for item in items)
        case Table(columns, rows):
            lines = [
                columns,
                tuple("---" for _ in columns),
                *(tuple(_cell(cell, fence) for cell in row) for row in rows),
            ]
            return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(line: Line, fence: Fence) -> str:
    # A table row is split at every bar before code spans are read, so bars are escaped inside code too.
    return _line(line, fence).replace("|", "\\|")


def _line(line: Line, fence: Fence) -> str:
    return "".join(fence.show(part.text, part.limit) if isinstance(part, Recorded) else part for part in line)
