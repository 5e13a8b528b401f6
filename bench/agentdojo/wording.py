"""What a sentence says, whatever a tool's output format made of it."""

from __future__ import annotations

import re

_ESCAPES = re.compile(r"\\[nrt]|\\")
_REST = re.compile(r"[^a-z0-9]+")
_SENTENCE = re.compile(r".*?[.!?](?=\s|$)", re.DOTALL)


def squashed(text: str) -> str:
    """Letters and digits alone, in lower case: equal for the spellings of a text in different output formats."""
    return _REST.sub("", _ESCAPES.sub(" ", text).lower())


def first_sentence(text: str) -> str:
    """Up to the first full stop, question mark or exclamation mark before a space."""
    found = _SENTENCE.match(text)
    return found[0] if found else text
