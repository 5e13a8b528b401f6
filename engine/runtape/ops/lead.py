"""A cheaper first look: which texts to test first, by the chance of the decision instead of by samples.

Used where the server gives log-probabilities of tool calls and the decision is which tool is called. It decides
nothing: its suspects take the same slots as those of a person.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from ..decision.likelihood import Likelihood, NotReadable
from ..errors import BudgetSpent, ModelFailed
from ..report.phrases import number, of
from ..said import Quoted, Said
from ..sample.batch_model import BatchModel
from ..sample.http_models import HttpModel
from ..search.likelihood import MOST, Guess, guess
from ..search.opening import FEWEST_ANSWERS
from ..search.problem import Problem
from ..stats.rates import wilson
from ..stats.tally import Tally
from ..wire.values import Request
from .asking import Asked
from .case import Case
from .reading import NoLogprobs, Reader, unfit

SLACK = 0.1
"""How far the chance that was read may lie outside the interval of the reruns."""
SHARE_OF_BUDGET = 0.2
"""Part of the budget that readings may use."""


@dataclass(frozen=True, slots=True)
class Lead:
    """Where the search begins."""

    guess: Guess = field(default_factory=Guess)
    told: Said | None = None
    """Whether the likelihood was used, and why or why not; None when nobody can have expected it."""


async def lead(
    case: Case,
    problem: Problem,
    asked: Asked,
    reruns: Callable[[], Awaitable[Tally]],
    render: Callable[[frozenset[int]], Request],
    *,
    wanted: bool | None,
    budget: int,
) -> Lead:
    """The texts that the chance of the decision points to.

    Args:
        case: The decision.
        problem: Its context.
        asked: The models; what is read is paid and counted there.
        reruns: Draws the context as recorded; the chance that is read has to agree with that.
        render: The request without some leaves.
        wanted: None to use it on a server of this machine, where a reading costs less than samples and no money.
        budget: Model calls for the search and this together.
    """
    model = asked.model(case.request)
    if wanted is False:
        return Lead(told=Said("Likelihood was switched off."))
    if isinstance(model, BatchModel):
        return _unused("each of its readings would wait for a batch") if wanted else Lead()
    local = isinstance(model, HttpModel) and model.local
    if wanted is None and not local:
        return Lead()
    reason = unfit(case) if isinstance(model, HttpModel) else "a model function gives no log-probabilities"
    if reason:
        return _unused(reason)
    about = f"{model.identity} {case.request.body.get('model')}"
    reader = Reader(case, asked.reading_sampler(case.request), render, alone=local)
    # A search that is run again finds the reply that it had, and counts it as before.
    known = None if wanted or reader.has_read(asked.cache, model.identity) else asked.cache.no_logprobs(about)
    if known:
        return _unused(Quoted(known))
    try:
        base = await reruns()
        if base.n < FEWEST_ANSWERS or not base.kept:
            return _unused("the reruns as recorded do not make the decision")
        read = await reader.base()
        if not _agree(read, base):
            seen = of((base.kept, base.n))
            return _unused(f"the chance read from the tokens, {read.value:.2f}, is not that of the reruns, {seen}")
        return _used(await _search(problem, reader, min(MOST, int(SHARE_OF_BUDGET * budget))), read, base)
    except NoLogprobs as error:
        asked.cache.learn_no_logprobs(about, str(error))
        return _unused(Quoted(str(error)))
    except NotReadable as error:
        return _unused(Quoted(str(error)))
    except ModelFailed as error:
        return _unused(Said("the server did not answer: ", Quoted(str(error))))
    except BudgetSpent:
        return _unused("the budget was spent")  # the search comes to the same end, and reports it


async def _search(problem: Problem, reader: Reader, most: int) -> Guess:
    search = guess(problem, most)
    try:
        wants = next(search)
        while True:
            wants = search.send(await reader.read(wants))
    except StopIteration as end:
        result: Guess = end.value
        return result


def _agree(read: Likelihood, base: Tally) -> bool:
    """Whether the chance that was read may be that of the reruns."""
    seen = wilson(base.kept, base.n)
    return seen.low - SLACK <= read.high and read.low <= seen.high + SLACK


def _unused(reason: str) -> Lead:
    return Lead(told=Said("Likelihood was not used: ", reason, "."))


def _used(found: Guess, read: Likelihood, base: Tally) -> Lead:
    pointed = len(found.alone) + len(found.together)
    told = Said(
        f"Likelihood was used: {number(found.passes, 'context')} read by the chance of the tool's name "
        f"({read.value:.2f} as recorded, where {of((base.kept, base.n))} reruns made the decision), which gave "
        f"{number(pointed, 'suspect') if pointed else 'no suspect'}. What is proven rests on reruns alone."
    )
    return Lead(found, told)
