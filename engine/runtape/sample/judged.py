"""Answers together with what they did, where it takes a judge to say so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from ..stats.tally import Outcome
from ..wire.values import Reply
from .asks import Ask, Drawn
from .model import Answer
from .sampler import Sampler

Outcomes: TypeAlias = Callable[[Reply], "Outcome | None"]
"""What a reply did; None as long as that is not known."""
Learn: TypeAlias = Callable[[Sequence[Reply]], Awaitable[None]]
"""Finds out what some replies did."""


def counts(answer: Answer, outcome: Outcomes) -> bool:
    """Whether an answer is a sample; one that is not judged yet is taken for one."""
    if answer.reply is None:
        return False
    known = outcome(answer.reply)
    return known is None or known.counts


async def draw_judged(
    sampler: Sampler, asks: Sequence[Ask], outcome: Outcomes, learn: Learn | None = None
) -> list[Drawn]:
    """The answers to some asks, each of them judged.

    Judging may find that an answer is no sample, and then another one is drawn in its place.

    Raises:
        BudgetSpent: a sample or its judgement does not fit the budget. What did fit is kept.
        ModelFailed: the model cannot answer. What arrived before is kept.
    """
    while True:
        drawn = await sampler.draw(asks)
        if learn is None:
            return drawn
        replies = [answer.reply for got in drawn for answer in got.answers if answer.reply is not None]
        unknown = [reply for reply in replies if outcome(reply) is None]
        if not unknown:
            return drawn
        await learn(unknown)
