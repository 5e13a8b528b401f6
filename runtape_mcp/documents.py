"""Reports as Markdown in which every recorded text is fenced, as much of them as an answer has room for."""

from __future__ import annotations

from runtape.report.document import Document
from runtape.report.markdown import to_markdown

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
    for text in to_markdown(document, fence):
        if len(text) > room:
            shown.append(f"{len(document) - len(shown)} more parts are in {elsewhere}.")
            break
        shown.append(text)
        room -= len(text) + 2
    return "\n\n".join(shown)
