"""Reruns that decide something, kept apart by what was known when they were asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from ..canon import digest
from ..search.ledger import BASE
from ..search.protocol import Search, Want
from ..stats.tally import Tally
from ..wire.values import Json
from .case import Case

T = TypeVar("T")

_CONFIRMING = ("confirm:", "member:")
"""How the series start whose samples decide claims."""


def series_of(case: Case, series: str) -> str:
    """The name under which a verb draws a series of this decision.

    What counts as the decision is often chosen after looking at replies. Another choice gets replies of its own, so
    that nobody can pick the one that these replies happen to favour; the same one in other words gets the same.
    """
    rule = case.selection.identity
    return f"{series}/{digest([case.decision.label, *(rule if isinstance(rule, list) else [rule])])[:16]}"


def salted(search: Search[frozenset[int], T], case: Case, suspects: Iterable[int]) -> Search[frozenset[int], T]:
    """The same search, drawing the reruns that decide from series of its own.

    A guess that was made after reading a report rests on the samples behind it. Searched again with that guess, nothing
    may be decided on those samples a second time, so the guess is part of the name of the series.

    Args:
        search: The search.
        case: The decision that it is about.
        suspects: The suspected leaves, in whatever words they were named.
    """
    guesses: list[Json] = [*sorted(suspects)]
    guess = digest(guesses)[:16]
    tallies: Sequence[Tally] | None = None
    while True:
        try:
            wants = next(search) if tallies is None else search.send(tallies)
        except StopIteration as end:
            result: T = end.value
            return result
        tallies = yield [_salted(want, case, guess) for want in wants]


def _salted(want: Want[frozenset[int]], case: Case, guess: str) -> Want[frozenset[int]]:
    if want.series.split(":")[0] == BASE:  # with the checks of the base, and the base begun anew
        return replace(want, series=series_of(case, want.series))
    if want.series.startswith(_CONFIRMING):
        return replace(want, series=f"{series_of(case, want.series)}/{guess}")
    return want
