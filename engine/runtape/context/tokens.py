"""Texts as words that can be compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from .scripts import APOSTROPHES, MARKS, UNSPACED, WIDE

# What stands before an @ or a / is bounded, so that hostile text is read in linear time.
# Addresses, links, paths, numbers with their separators and identifiers stay whole; anything else is a word.
_TOKEN = re.compile(
    r"https?://[^\s<>\"']+"
    r"|[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+"
    r"|[\w~-]{0,64}(?:[/\\][\w.~-]+)+"
    r"|\d[\d.,:/-]*\d|\d"
    rf"|[^\W\d_](?:[\w{MARKS}{APOSTROPHES}-]*[\w{MARKS}])?"
    rf"|[\w{MARKS}]+"
)
_UNSPACED = re.compile(f"[{UNSPACED}]")
_PART = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{MARKS}]){{2,}}|\d{{2,}}")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ENDINGS = ("ingly", "ations", "ation", "ings", "ing", "edly", "ers", "ed", "er", "es", "s", "ly", "e")
_STEM = 4
_WIDE_RUN, _LETTERS_RUN = 2, 4


def tokens(text: str) -> frozenset[str]:
    """The distinct words of a text, folded to lower case; e-mail addresses, links, paths and numbers whole.

    Text without spaces between words gives its runs of neighbouring characters: two, or four of an alphabet.
    """
    return frozenset(_split(text))


def _runs(token: str, length: int) -> Iterator[str]:
    return (token[at : at + length] for at in range(max(len(token) - length + 1, 1)))


def related(text: str) -> frozenset[str]:
    """`tokens`, with the parts of identifiers and the stems of words, so that `forward_email` meets "forwarding"."""
    found = set(tokens(text))
    for part in _PART.findall(_CAMEL.sub(" ", unicodedata.normalize("NFKC", text)).casefold()):
        if part[0] < WIDE and not _UNSPACED.match(part):
            found.add(_stem(part))
    return frozenset(found)


def comparable(text: str) -> frozenset[str]:
    """The words of a text by their stems, what names one thing whole, and neither in two ways."""
    found: set[str] = set()
    for token in _split(text):
        if is_specific(token) or token[0] >= WIDE:
            found.add(token)
        else:
            found.update(_stem(part) for part in _PART.findall(token))
    return frozenset(found)


def is_specific(token: str) -> bool:
    """True for what names one thing: an address, a path, a number, an identifier."""
    return any(c.isdigit() for c in token) or any(c in "@/\\_.:" for c in token)


def _split(text: str) -> Iterator[str]:
    for token in _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold()):
        if token[0] >= WIDE:
            yield from _runs(token, _WIDE_RUN)
        elif _UNSPACED.match(token):
            yield from _runs(token, _LETTERS_RUN)
        elif bare := token.rstrip(".,:/-"):
            yield bare


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            return "~" + word[: -len(ending)]
    return "~" + word
