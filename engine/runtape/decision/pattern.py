"""Regular expressions from a user, kept from running for ever.

They mean what they mean in `re`, and are searched by `regex`, which can be told when to stop.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..errors import BadInput
from ..text import shorten

if TYPE_CHECKING:
    import regex

TIME = 0.25
"""Seconds for one search. One that is not hopeless takes milliseconds, in megabytes of text too."""

UNROLLED = 100_000
"""Repetitions that a pattern may demand. `regex` writes each of them out before any search, and no time limit holds."""

_SHOWN = 60
_BRACES = re.compile(r"\\[NpPuUx]\{[^}]*\}|\\.|\{(?P<least>\d*)(?:,\d*)?\}|(?P<plain>\{)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression, ready to be searched; equal where the texts are."""

    pattern: str
    """As the user wrote it."""
    compiled: regex.Pattern[str] = field(compare=False, repr=False)


def compiled(pattern: str) -> Pattern:
    """The pattern, ready to be searched.

    Raises:
        BadInput: it is no regular expression, it is empty, or it demands more than `UNROLLED` repetitions.
    """
    import regex  # 20 ms, and most runs have no pattern

    if not pattern:
        raise BadInput("An empty pattern matches everything. Give the text that makes the decision.")
    shown = shorten(pattern, _SHOWN)
    demanded = math.prod(int(found["least"]) for found in _BRACES.finditer(pattern) if int(found["least"] or 0))
    if demanded > UNROLLED:
        raise BadInput(f"The pattern {shown!r} demands more than {UNROLLED} repetitions. Write it with smaller counts.")
    try:
        return Pattern(pattern, regex.compile(_as_in_re(pattern), regex.VERSION0))
    except (regex.error, OverflowError, RecursionError) as error:
        raise BadInput(
            f"The pattern {shown!r} is no regular expression: {error}. "
            "Put a backslash before characters that stand for themselves."
        ) from error


def is_found(pattern: Pattern, text: str | None) -> bool:
    """True when the pattern matches somewhere in the text.

    Raises:
        BadInput: it takes longer than `TIME`.
    """
    if text is None:
        return False
    try:
        return pattern.compiled.search(text, timeout=TIME) is not None
    except TimeoutError:
        raise BadInput(
            f"The pattern {shorten(pattern.pattern, _SHOWN)!r} took more than {TIME} seconds on a text of {len(text)} "
            "characters. Write it so that no repetition can match the same text in two ways, as in `(a+)+` or `(a|a)*`."
        ) from None


def _as_in_re(pattern: str) -> str:
    """The pattern with a backslash before each brace that counts nothing: `{e}` would allow errors in `regex`."""
    return _BRACES.sub(lambda found: "\\{" if found["plain"] else found.group(), pattern)
