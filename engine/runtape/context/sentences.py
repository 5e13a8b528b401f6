"""Where sentences end, in any script that marks it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .markup import TAG
from .scripts import CALENDAR, CLOSERS, COUNTED, OPENERS, SHORT_FORMS, STOPS, TITLES, UNSPACED, WIDE_STOPS

# `;` ends a question in Greek only. Scripts without spaces between words put one between phrases.
_STOP = re.compile(f"[{re.escape(STOPS)};]+|(?<=[{UNSPACED}])[^\\S\n]+(?=[{UNSPACED}])")
_CLOSERS = re.compile(f"[{re.escape(CLOSERS)}]*")
_GREEK = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")
_LONGEST_SHORT_FORM = 24
_GREEK_NEAR = 24
"""Characters before a `;` in which a Greek letter makes it a question mark."""


def sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences of `text[start:end]`, as offsets without the white space around them, in order.

    Abbreviations, decimals, versions, addresses and file names are not cut. A small letter may start a sentence.
    """
    begin = start
    for stop in _STOP.finditer(text, start, end):
        closers = _CLOSERS.match(text, stop.end(), end)
        closed = closers.end() if closers else stop.end()
        if closed < end and not _ends_here(text, (begin, end), stop, closed):
            continue
        trimmed = _trimmed(text, begin, closed)
        if trimmed:
            yield trimmed
        begin = closed
    rest = _trimmed(text, begin, end)
    if rest:
        yield rest


def ends_sentence(line: str) -> bool:
    """True when a line ends with a full stop, a question mark or an exclamation mark, in any script."""
    tail = line.rstrip().rstrip(CLOSERS)
    return tail != "" and tail[-1] in STOPS


def _ends_here(text: str, extent: tuple[int, int], stop: re.Match[str], closed: int) -> bool:
    """Whether a sentence ends at the mark `stop`, behind which quotes and brackets close until `closed`."""
    begin, end = extent
    mark = stop.group()
    if mark[-1] in WIDE_STOPS or mark[0].isspace():
        return True
    if not (text[closed].isspace() or TAG.match(text, closed, end)):
        return False
    if mark == ";":
        return _GREEK.search(text, max(begin, stop.start() - _GREEK_NEAR), stop.start()) is not None
    following = _first_letter(text, closed, end)
    if following.islower() and (
        mark in {"...", "…"} or text[closed - 1] == ")" or ("." not in mark and closed > stop.end())
    ):
        # `well ... maybe`, `(see above.) then`, `"Stop!" he said`
        return False
    before = text[max(begin, stop.start() - _LONGEST_SHORT_FORM) : stop.start()]
    return mark != "." or not _is_short_form(before, following)


def _is_short_form(before: str, following: str) -> bool:
    """True when the full stop after `before` belongs to an abbreviation or an initial."""
    if not before or before[-1].isspace():
        return False
    word = before.rsplit(maxsplit=1)[-1].lstrip(OPENERS)
    lowered = word.casefold()
    if lowered in TITLES or (len(word) == 1 and word.isupper()):
        return True
    if lowered in COUNTED:
        return following.isdigit() or following == "#"
    if lowered in SHORT_FORMS or word in CALENDAR or _DOTTED.fullmatch(word):
        return not following.isupper()
    return False


def _first_letter(text: str, at: int, end: int) -> str:
    while at < end and text[at].isspace():
        at += 1
    return text[at : min(at + 1, end)]


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if end > start else None
