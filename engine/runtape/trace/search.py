"""Where a text stands in a run, and where it came into it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ..errors import BadInput
from ..text import visible
from .passages import Passage, passages
from .trace import Trace

AROUND: Final = 100
"""Characters on each side of a text that was looked for."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Where a text stands inside a longer one, both as they are shown."""

    start: int
    end: int
    around: str
    """The text with what stands on both sides of it; line breaks as ` / `."""


@dataclass(frozen=True, slots=True)
class Found:
    """One text of the run that holds what was looked for."""

    passage: Passage
    places: tuple[Occurrence, ...]
    """At least one, in order."""


def search(trace: Trace, term: str) -> list[Found]:
    """The texts that hold `term`, letter case aside, in the order in which they came into the run.

    The first of them is where the term entered it. A hidden character is found by how it is shown (`<U+202E>`).

    Raises:
        BadInput: the term is empty.
    """
    if not term:
        raise BadInput("there is nothing to look for: give a text that is not empty.")
    found = ((passage, places_of(passage.text, term)) for passage in passages(trace))
    return [Found(passage, tuple(places)) for passage, places in found if places]


def places_of(text: str, term: str, show: Callable[[str], str] = visible) -> list[Occurrence]:
    """Where `term` stands in `text`, letter case aside; `show` makes the text fit to be looked at first."""
    shown = show(text)
    wanted = visible(term)
    escaped = json.dumps(wanted, ensure_ascii=False)[1:-1]  # as it stands inside JSON
    pattern = "|".join(re.escape(one) for one in dict.fromkeys((wanted, escaped)))
    return [
        Occurrence(at.start(), at.end(), _around(shown, at.start(), at.end()))
        for at in re.finditer(pattern, shown, re.IGNORECASE)
    ]


def _around(text: str, start: int, end: int) -> str:
    # Line breaks and the indentation of an outline would take most of the row.
    return re.sub(r"\s*\n\s*", " / ", text[max(0, start - AROUND) : end + AROUND])
