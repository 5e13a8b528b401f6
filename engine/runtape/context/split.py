"""A text as a tree of units that can be left out.

A text that is JSON, or the `repr` of a Python value, falls apart into members and items, and the prose inside its
strings into sentences. Any other text falls apart into paragraphs, then into lines that stand alone (list items, table
rows, log lines, `key: value`), then into sentences. Paragraphs, lines and strings that are literals themselves are
split as such; a quoted string of YAML is read without the breaks at which it was folded. Whatever is not a leaf is glue
and is never lost: leaves and glue together are the text.
"""

from __future__ import annotations

from collections.abc import Sequence

from .blocks import split_blocks
from .folded import unfolded
from .literals import parse
from .spans import Span, Tree
from .weight import weight

# JSON inside a string inside JSON is common (tool results that pass through two programs); deeper is not.
_MAX_NESTING = 4


def split(text: str) -> Tree:
    """The tree of a text; no leaves when it says nothing (white space, punctuation, `{}`)."""
    literal = parse(text, lambda string: _split_prose(string, 1))
    if literal and literal.spans:
        return Tree(text, literal.spans, literal.empty)
    folded = unfolded(text)
    spans = tuple(split_blocks(folded.text if folded else text, lambda part: _nested(part, 1)))
    if folded:
        spans = tuple(span.moved(folded.raw) for span in spans)
    if not spans and weight(text):
        start, end = len(text) - len(text.lstrip()), len(text.rstrip())
        spans = (Span("sentence", "s1", start, end, text[start:end]),)
    return Tree(text, spans)


def _split_prose(text: str, nesting: int) -> Sequence[Span]:
    return split_blocks(text, lambda part: _nested(part, nesting + 1))


def _nested(text: str, nesting: int) -> Sequence[Span]:
    if nesting >= _MAX_NESTING:
        return ()
    literal = parse(text, lambda string: _split_prose(string, nesting))
    return literal.spans if literal else ()
