"""What `why` guesses without a rerun: the pieces of a context by how suspicious their wording is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ranked:
    """One piece with how suspicious its wording is, seen from the decision."""

    ref: str
    text: str
    score: float
    """Standard deviations above the mean of all pieces."""
    event: int | None
    tool: str | None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Every piece of a context, most suspicious first; a guess from the wording, nothing was rerun."""

    trace: str
    event: int
    decision: str
    pieces: list[Ranked]
    untested: list[tuple[str, str]]
    """(ref, reason): what no edit removes."""
