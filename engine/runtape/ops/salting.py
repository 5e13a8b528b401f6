"""Reruns that confirm, kept apart by what was known when they were asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from ..canon import digest
from ..search.protocol import Search, Want
from ..stats.tally import Tally
from ..wire.values import Json
from .case import Case

T = TypeVar("T")

_CONFIRMING = ("confirm:", "member:")
"""How the series start whose samples decide claims."""


def salted(search: Search[frozenset[int], T], salt: str) -> Search[frozenset[int], T]:
    """The same search, drawing its confirming reruns from series of its own.

    A guess that was made after reading a report rests on the samples behind it. Searched again with that guess, nothing
    may be decided on those samples a second time, so the guess is part of the name of the series.
    """
    tallies: Sequence[Tally] | None = None
    while True:
        try:
            wants = next(search) if tallies is None else search.send(tallies)
        except StopIteration as end:
            result: T = end.value
            return result
        tallies = yield [_salted(want, salt) for want in wants]


def salt_of(case: Case, suspects: Iterable[int]) -> str:
    """The same for the same decision and the same suspected leaves, in whatever words they were named."""
    selection = case.selection
    guesses: list[Json] = [*sorted(suspects)]
    return digest([case.decision.label, selection.match, selection.exact_args, guesses])[:16]


def _salted(want: Want[frozenset[int]], salt: str) -> Want[frozenset[int]]:
    return replace(want, series=f"{want.series}/{salt}") if want.series.startswith(_CONFIRMING) else want
