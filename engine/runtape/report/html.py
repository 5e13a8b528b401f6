"""A document as HTML in which recorded text is text."""

from __future__ import annotations

from html import escape

from ..text import shorten, visible
from .document import Block, Bullets, Document, Heading, Line, Paragraph, Quote, Recorded, Table


def to_html(document: Document) -> list[str]:
    """Each block of the document as one element, without scripts, styles or links."""
    return [_block(block) for block in document]


def escaped(text: str) -> str:
    """Recorded text for HTML: hidden characters shown, nothing in it markup."""
    return escape(visible(text), quote=True)


def _block(block: Block) -> str:
    match block:
        case Heading(line, level):
            return f"<h{level}>{_line(line)}</h{level}>"
        case Paragraph(line):
            return f"<p>{_line(line)}</p>"
        case Quote(text, limit):
            return f"<pre>{escape(shorten(visible(text), limit))}</pre>"
        case Bullets(items):
            return f"<ul>{''.join(f'<li>{_line(item)}</li>' for item in items)}</ul>"
        case Table(columns, rows):
            head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
            body = "".join(f"<tr>{''.join(f'<td>{_line(cell)}</td>' for cell in row)}</tr>" for row in rows)
            return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _line(line: Line) -> str:
    return "".join(_recorded(part) if isinstance(part, Recorded) else escape(part) for part in line)


def _recorded(part: Recorded) -> str:
    shown = shorten(" ".join(visible(part.text).split()), part.limit)
    return f"<code><bdi>{escape(shown)}</bdi></code>"
