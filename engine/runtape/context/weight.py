"""How much a fragment of text says."""

from __future__ import annotations

import re
import unicodedata

from .scripts import STOPS, WIDE

ENOUGH = 3
"""Weight from which a text can be a unit of its own; `2.`, `A)` and `Q:` say nothing alone."""

_WORD = re.compile(r"\S+")
_PROSE_WORDS = 4
_PROSE_WIDE = 6
# Lines, boxes and bullets are drawn with these "symbols".
_DRAWN_FROM, _DRAWN_TO = "\u2500", "\u25ff"


def weight(text: str) -> int:
    """Letters and digits, counted up to `ENOUGH`; 0 for white space, punctuation and drawn lines.

    A character of a script without spaces between words counts twice, a pictogram is enough.
    """
    total = 0
    for c in text:
        if c.isalnum():
            total += 2 if c >= WIDE else 1
        elif c > "\u00a9" and unicodedata.category(c) == "So" and not _DRAWN_FROM <= c <= _DRAWN_TO:
            return ENOUGH
        if total >= ENOUGH:
            return ENOUGH
    return total


def reads_as_prose(text: str) -> bool:
    """True when a string value is worth splitting: several words, or a sentence."""
    if not weight(text):
        return False
    words = 0
    for _ in _WORD.finditer(text):
        words += 1
        if words >= _PROSE_WORDS:
            return True
    if words > 1 and text.rstrip()[-1] in STOPS:
        return True
    return sum(c >= WIDE and c.isalnum() for c in text) >= _PROSE_WIDE
