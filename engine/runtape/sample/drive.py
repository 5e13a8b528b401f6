"""Runs a search on samples."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from ..search.protocol import Search, Want
from ..stats.tally import Tally

V = TypeVar("V", bound=Hashable)
T = TypeVar("T")


class Answers(Protocol[V]):
    """Answers the wants of a search: an `Oracle`, or several of them behind one door."""

    async def answer(self, wants: Sequence[Want[V]]) -> Sequence[Tally]:
        """One tally per want, in the same order."""
        ...


async def drive(search: Search[V, T], oracle: Answers[V], *, on_round: Callable[[], None] | None = None) -> T:
    """The result of `search`, its wants answered by `oracle`.

    `on_round` is called each time the search has taken in the answers to a batch and asks for more: what it knows so
    far can be read then. Whatever ends the run early, the search is closed; what was paid for stays in
    the reply cache.

    Raises:
        BudgetSpent: the next batch does not fit the budget.
        ModelFailed: the model cannot answer.
    """
    try:
        step = _first(search)
        while not isinstance(step, _Done):
            step = _next(search, await oracle.answer(step))
            if on_round is not None and not isinstance(step, _Done):
                on_round()
        return step.result
    finally:
        search.close()


@dataclass(frozen=True, slots=True)
class _Done(Generic[T]):
    """A search's result, told apart from its next batch: StopIteration does not travel through coroutines."""

    result: T


def _first(search: Search[V, T]) -> Sequence[Want[V]] | _Done[T]:
    try:
        return next(search)
    except StopIteration as stop:
        return _Done(stop.value)


def _next(search: Search[V, T], tallies: Sequence[Tally]) -> Sequence[Want[V]] | _Done[T]:
    try:
        return search.send(tallies)
    except StopIteration as stop:
        return _Done(stop.value)
