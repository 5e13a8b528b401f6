"""What a sentence says, and how it stands in a tool's output."""

from __future__ import annotations

import re

# YAML folds lines at 80 columns; inside double quotes it escapes the break, and a space at the start of the next line.
_BREAK = r"(?:\s|\\n|\\\n\s*(?:\\ )?)+"
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


def as_it_stands(sentence: str, text: str) -> list[str]:
    """Every place of a sentence in a text, in the spelling that it has there."""
    words = [re.escape(word).replace("'", "''?").replace('"', r'\\?"') for word in sentence.split()]
    return re.findall(_BREAK.join(words), text)
