"""What the recorder put in place of what it did not write."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..wire.values import Json

_REDACTED = re.compile(r"\[redacted:[a-z0-9_]+\]")
_CUT = re.compile(r"<cut: \d+ (?:characters, sha256 [0-9a-f]{64}|more elements)>|<cut: [\w.]+ nested deeper than \d+>")
_CUT_MEMBER = "<cut>"
"""Name of the member that stands for the members of an object that are gone."""


@dataclass(frozen=True, slots=True)
class Marks:
    """How many marks a value holds."""

    redacted: int = 0
    """Secrets that were taken out."""
    cut: int = 0
    """Values that were cut for their size."""

    def __add__(self, other: Marks) -> Marks:
        return Marks(self.redacted + other.redacted, self.cut + other.cut)


def marks_in(value: Json) -> Marks:
    """The marks in a value of a trace, wherever they stand."""
    match value:
        case str():
            return Marks(len(_REDACTED.findall(value)), len(_CUT.findall(value)))
        case list():
            return sum(map(marks_in, value), Marks())
        case dict():
            return sum(map(marks_in, value.values()), Marks(cut=int(_CUT_MEMBER in value)))
        case _:
            return Marks()
