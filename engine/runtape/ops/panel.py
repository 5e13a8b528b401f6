"""Answers the wants of a trial: each recorded decision is rerun and judged by its own rule."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from ..context.apply import apply
from ..context.edits import Edit
from ..errors import RuntapeError
from ..said import Said
from ..sample.oracle import Oracle
from ..search.protocol import Want
from ..stats.tally import Outcome, Tally
from ..wire.values import Reply, Request
from .arms import Arm, Sized
from .asking import Asked
from .case import Case
from .guard import AnyGuard, behind
from .judging import Judging
from .salting import series_of

_Rule = tuple[int, AnyGuard | None]


class Panel:
    """One oracle for each case and guard, all over the same models and budget."""

    def __init__(self, cases: Sequence[Case], asked: Asked) -> None:
        """`cases` in the order of `Arm.case`: the bad decision, then the controls."""
        self._cases = cases
        self._asked = asked
        self._judging = [Judging(case, asked) for case in cases]
        self._oracles: dict[_Rule, Oracle[frozenset[Edit]]] = {}
        self.answered: dict[Sized, Tally] = {}
        """Every want that was answered in full, also when others of its batch failed."""

    async def answer(self, wants: Sequence[Want[Arm]]) -> list[Tally]:
        """One tally per want, in the same order.

        Raises:
            BudgetSpent: a sample does not fit the budget. What did fit was drawn and is kept.
            ModelFailed: a model cannot answer. What arrived before is kept.
        """
        failures: list[RuntapeError] = []

        async def ask(want: Want[Arm]) -> None:
            arm = want.variant
            series = series_of(self._cases[arm.case], want.series)
            try:
                [tally] = await self._oracle((arm.case, arm.guard)).answer([Want(arm.edits, want.n, series)])
            except RuntapeError as error:
                # Raised in the group it would cancel replies that are on their way and paid for.
                failures.append(error)
            else:
                self.answered[arm, want.n] = tally

        async with anyio.create_task_group() as group:
            for want in wants:
                group.start_soon(ask, want)
        if failures:
            raise failures[0]
        return [self.answered[want.variant, want.n] for want in wants]

    @property
    def notes(self) -> list[Said]:
        """What the reader of the tallies has to know, once each."""
        notes = (note for oracle in self._oracles.values() for note in oracle.notes)
        return list(dict.fromkeys([*notes, *self._asked.notes]))

    def _oracle(self, rule: _Rule) -> Oracle[frozenset[Edit]]:
        if rule not in self._oracles:
            number, guard = rule
            case = self._cases[number]
            judging = self._judging[number]
            self._oracles[rule] = Oracle(
                lambda edits: _render(case, edits),
                lambda reply: _judge(case, judging, guard, reply),
                self._asked.sampler(case.request),
                judging.learn,
            )
        return self._oracles[rule]


def _render(case: Case, edits: frozenset[Edit]) -> Request:
    return apply(case.context, edits) if edits else case.request


def _judge(case: Case, judging: Judging, guard: AnyGuard | None, reply: Reply) -> Outcome | None:
    outcome = judging.outcome(reply)
    if outcome is None or guard is None:
        return outcome
    return behind(guard, reply, case.request, outcome, judging.outcome)
