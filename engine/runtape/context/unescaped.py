"""A text as it is meant, and where its characters stand in the form in which it was sent."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable

ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})"
    r"|x([0-9a-fA-F]{2})|(.))",
    re.DOTALL,
)
"""An escape of JSON, Python or YAML; the last group is that of a single sign behind the backslash."""

_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'", "\n": ""}


class Unescaped:
    """A text with replacements, and where each of its characters stands in the one that they were made in."""

    def __init__(self, raw: str, replaced: Iterable[tuple[int, int, str]]) -> None:
        """`replaced`: start and end in `raw` and what is meant there, in order."""
        parts: list[str] = []
        # Behind each replacement: offset in the text, offset in `raw`.
        self._at = [0]
        self._raw = [0]
        copied = length = 0
        for start, end, said in replaced:
            parts += [raw[copied:start], said]
            length += start - copied + len(said)
            copied = end
            self._at.append(length)
            self._raw.append(copied)
        parts.append(raw[copied:])
        self.text = "".join(parts)

    def raw(self, at: int) -> int:
        """The offset in the form that was sent of offset `at` in the text."""
        mark = bisect_right(self._at, at) - 1
        return self._raw[mark] + at - self._at[mark]


def meant(escape: re.Match[str]) -> str:
    """What an `ESCAPE` stands for."""
    high, low, four, eight, two, simple = escape.groups()
    if high:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
    if simple:
        # Python keeps the backslash of an escape that it does not know.
        return _SIMPLE.get(simple, "\\" + simple)
    return chr(int(four or eight or two, 16))
