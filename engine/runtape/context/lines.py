"""Which lines of a paragraph belong together."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .cells import cells
from .markup import LINE_TAG, is_tags_only
from .scripts import BULLETS, UNSPACED, WIDE
from .sentences import ends_sentence

BULLET = re.compile(
    rf"[^\S\n]*(?:(?:[{re.escape(BULLETS)}]|\d{{1,3}}[.)]|[A-Za-z]\)|#{{1,6}}|>+)[^\S\n]+)?(?:\[[ xX]?\][^\S\n]+)?"
)
"""The indentation and the marker before a list item, a heading or a quotation; matches everywhere, often nothing."""

_MARKER = re.compile(rf"\s*(?:[{re.escape(BULLETS)}]\s|\d{{1,3}}[.)]\s|[A-Za-z]\)\s|#{{1,6}}\s|>|\||\[[ xX]?\]\s)")
_KEY = re.compile(r"\s*[\"']?(?:[\w.\-]{1,30}|[A-Z][\w\-]*(?: [\w\-]{1,20}){0,2})[\"']?:(?:\s|$)")
_LOG = re.compile(
    r"\s*[\[(<]?(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.:]\d{2}[-/.:]\d{2}|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL)\b)"
)

# Nothing tells whether a line of these scripts runs on.
_UNSPACED = re.compile(f"[{UNSPACED}]")

# Text is wrapped by hand or by a mail program at some such width; longer lines are not wrapped at all.
_NARROWEST, _WIDEST = 40, 160


def units(text: str, lines: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The lines of one paragraph joined where a sentence runs on, as offsets.

    List items, table rows, log lines, headings and `key: value` lines stand alone; wrapped prose is one unit.
    """
    if len(lines) < 2:
        return list(lines)
    texts = [text[start:end] for start, end in lines]
    # A comment over several lines counts as one line here and says nothing about the width.
    width = max((len(line.rstrip()) for line in texts if "\n" not in line), default=0)
    rows = _are_rows(texts)
    joined = [lines[0]]
    for above, below, (start, end) in zip(texts, texts[1:], lines[1:], strict=False):
        if not rows and _runs_on(above, below, width):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _runs_on(above: str, below: str, width: int) -> bool:
    """True when `below` continues a sentence that `above` had no room for."""
    if _MARKER.match(below) or _KEY.match(below) or _LOG.match(below) or "\t" in below.strip():
        return False
    if is_tags_only(above) or is_tags_only(below) or above.rstrip().endswith(":"):
        return False
    if below.lstrip().startswith("<!--") or above.rstrip().endswith("-->"):
        return False
    if LINE_TAG.match(below.lstrip()) or LINE_TAG.match(above, max(above.rfind("<"), 0)):
        return False
    if _MARKER.match(above) and _indent(below) > _indent(above):
        return not ends_sentence(above)
    if cells(above, 0, len(above)) or cells(below, 0, len(below)):
        return False
    if not _NARROWEST <= width <= _WIDEST or _UNSPACED.match(below.lstrip()):
        return False
    word = below.split(maxsplit=1)[0]
    # Scripts without spaces between words wrap anywhere.
    needed = 1 if word[0] >= WIDE else len(word) + 1
    return len(above.rstrip()) + needed > width


def _are_rows(lines: Sequence[str]) -> bool:
    """True for a table: every line has the same number, two or more, of one separator."""
    for separator in ("\t", "|", ",", ";"):
        counts = {line.count(separator) for line in lines}
        if len(counts) == 1 and counts.pop() >= 2:
            return True
    return False


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
