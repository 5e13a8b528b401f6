"""Recorded text made fit to be looked at, and taken apart into words."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_ANSI: Final = re.compile("\x1b\\[[0-?]{0,32}[ -/]{0,4}[@-~]|\x1b")
"""A whole colour or cursor sequence, else the escape character alone: what follows one of the others can be text."""

_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
_HIDDEN_ANYWAY: Final = re.compile(
    # Drawn as nothing although a letter, mark or symbol by category: variation selectors, fillers, joiners.
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_LEFT: Final = frozenset("\t\n")

_WORD: Final = re.compile(
    # Scripts without blanks between words are taken by character: one long run would never overlap with another.
    "[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
    "|[^\\W_\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)


def visible(s: str) -> str:
    """`s` with every character that a reader would not see shown, as `<U+202E>`; terminal sequences as `<ESC>`.

    Tab and newline stay. Carriage returns, other controls, format and bidirectional characters, tags, variation
    selectors, surrogates, private and unassigned characters are shown.
    """
    if s.isascii() and s.isprintable():
        return s
    if "\x1b" in s:
        s = _ANSI.sub("<ESC>", s)
    hidden = {ord(char): f"<U+{ord(char):04X}>" for char in set(s) if _is_hidden(char)}
    return s.translate(hidden) if hidden else s


def shorten(s: str, limit: int) -> str:
    """`s` in at most `limit` characters: its head and tail, and between them how many characters were cut."""
    if len(s) <= limit:
        return s
    kept = limit - len(_cut_mark(len(s)))
    if kept < 2:  # no room to say how much is missing
        return s[: max(limit - 1, 0)] + "…"[:limit]
    head = (kept * 2 + 2) // 3
    tail = kept - head
    return s[:head] + _cut_mark(len(s) - kept) + s[len(s) - tail :]


def words(s: str) -> list[str]:
    """The words of `s` in order, in lower case, for counting overlap; parts of `snake_case` names are words."""
    return _WORD.findall(s.casefold())


def _is_hidden(char: str) -> bool:
    if char in _LEFT or (char.isprintable() and char.isascii()):
        return False
    return unicodedata.category(char) in _HIDDEN_CATEGORIES or _HIDDEN_ANYWAY.match(char) is not None


def _cut_mark(characters: int) -> str:
    return f" […{characters:,} characters cut…] "
