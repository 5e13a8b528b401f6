"""The whole of `rerun`: what a recorded decision becomes, as it was or with a change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..errors import BadInput, BudgetSpent, ModelFailed
from ..report.results import Distribution, Seen
from ..said import Said
from ..sample.asks import Ask, Drawn, look
from ..sample.cache import key_of
from ..sample.judged import counts, draw_judged
from ..sample.model import Answer
from ..sample.sampler import Sampler
from ..sample.served import split
from ..search.ledger import BASE
from ..stats.tally import Outcome, count
from ..wire.dialects import dialect_for
from ..wire.values import Reply
from .asking import Asked, Asking, asking_models
from .case import Case
from .changes import Change
from .ending import Ending, ending_of, not_rerun
from .guard import AnyGuard, behind, let_through
from .judging import Judging
from .pace import PLANNED, OnProgress, Pace
from .salting import series_of

FIRST_LOOK, STEP = 4, 8
"""Reruns before the first time that a rule may end them, and most reruns between two such times: each is a wait."""
Until: TypeAlias = Callable[[Distribution], bool]
"""Whether the reruns so far are enough."""
RERUN = "rerun"
"""Series of the samples of changed contexts."""
_SAME_SYSTEM = Said("The system prompt that was given is the recorded one.")


async def send_again(
    case: Case,
    change: Change,
    asking: Asking,
    on_progress: OnProgress | None = None,
    *,
    runs: int,
    until: Until | None = None,
    guard: AnyGuard | None = None,
) -> Distribution:
    """What the changed call leads to, paid and counted as `asking` says; raises as `rerun` does."""
    if runs < 1:
        raise BadInput(f"runs={runs} reruns nothing. Ask for at least 1.")
    notes = [*case.caveats]
    if change.system is not None and change.system == dialect_for(case.request.api).system_text(case.request.body):
        # A test hands in the prompt that the agent uses now; on the day it is the recorded one, the test has to fail
        # because the decision comes back, not because nothing changed.
        change = replace(change, system=None)
        notes.append(_SAME_SYSTEM)
    request = change.applied(case.context)
    series = series_of(case, BASE) if request == case.request else RERUN
    pace = Pace(on_progress)

    def tell() -> None:
        there = Drawn(look(ask, _kept(asked, ask)).answers)
        known = _distribution(Read(case, judging, guard), there, asked, runs=runs, notes=notes, ending=None)
        pace.know(runs, "rerunning", known)
        pace.tell(asked.spent, asked.waiting)

    async with asking_models(asking, None if on_progress is None else tell, lambda: pace.begin(asked.spent)) as asked:
        sizes = [runs] if until is None else _looks(runs)
        pace.expect(asked.expect(case, len(sizes)))
        pace.know(runs, PLANNED, None)
        judging = Judging(case, asked)
        ask = Ask(request, series, runs, lambda answer: counts(answer, judging.outcome))
        await judging.need_recorded()
        looks = iter(sizes)
        while True:
            size = next(looks)
            drawn, ending = await _drawn(asked, replace(ask, n=size), judging)
            seen = _distribution(Read(case, judging, guard), drawn, asked, runs=runs, notes=notes, ending=ending)
            whole = size == runs or ending is not None or bool(seen.tally.broken)
            enough = not whole and until is not None and bool(len(seen)) and until(seen)
            if whole or enough:
                seen = replace(seen, enough=enough)
                pace.know(0, "done", seen)
                pace.begin(asked.spent)
                return seen


def _looks(runs: int) -> list[int]:
    """Numbers of reruns after which a rule is asked whether they are enough: 4, 8, 16, 24, ..."""
    sizes = [FIRST_LOOK]
    while sizes[-1] < runs:
        sizes.append(sizes[-1] + min(sizes[-1], STEP))
    return [*sizes[:-1], runs]


async def _drawn(asked: Asked, ask: Ask, judging: Judging) -> tuple[Drawn, Ending | None]:
    sampler: Sampler = asked.sampler(ask.request)
    try:
        [drawn] = await draw_judged(sampler, [ask], judging.outcome, judging.learn)
    except (BudgetSpent, ModelFailed) as error:
        there = look(ask, _kept(asked, ask)).answers
        if not any(map(ask.counts, there)):
            raise
        return Drawn(there), ending_of(error)
    return drawn, None


def _kept(asked: Asked, ask: Ask) -> dict[int, Answer]:
    return asked.cache.answers(key_of(asked.model(ask.request).identity, ask.request), ask.series)


def _distribution(
    read: Read, drawn: Drawn, asked: Asked, *, runs: int, notes: list[str], ending: Ending | None
) -> Distribution:
    outcomes = [read.outcome(answer) for answer in drawn.answers]
    counted = [
        (outcome, answer.reply)
        for outcome, answer in zip(outcomes, drawn.answers, strict=True)
        if outcome.counts and answer.reply is not None
    ]
    actions = Counter(outcome.action for outcome, _ in counted)
    tally = count(outcomes, drawn.broken)
    apart = split(zip(drawn.answers, outcomes, strict=True))
    if ending is None and not tally.n and tally.broken is None:
        ending = not_rerun(", ".join(f"{times} {verdict}" for verdict, times in tally.void))
    return Distribution(
        tally=tally,
        actions=sorted(actions.items(), key=lambda item: (-item[1], item[0])),
        replies=[read.seen(reply) for _, reply in counted],
        calls=asked.spent.calls,
        reused=asked.spent.reused,
        decision=read.case.decision.label,
        asked=runs,
        notes=[*notes, *asked.notes, *([] if apart is None else [apart])],
        stopped=ending.text if ending else None,
        stopped_by=ending.by if ending else None,
        repeats=[outcome.verdict == "same" for outcome, _ in counted],
    )


@dataclass(frozen=True, slots=True)
class Read:
    """How the answers to one request are read."""

    case: Case
    judging: Judging
    guard: AnyGuard | None

    def outcome(self, answer: Answer) -> Outcome:
        """What an answer did; what the guard holds back was not done."""
        if answer.reply is None:
            return Outcome("invalid", answer.error or "no readable answer")
        outcome = self.judging.settled(answer.reply)
        if self.guard is None:
            return outcome
        return behind(self.guard, answer.reply, self.case.request, outcome, self.judging.settled)

    def seen(self, reply: Reply) -> Seen:
        """The calls and the text of a reply, without the calls that the guard holds back."""
        calls = reply.tool_calls if self.guard is None else let_through(self.guard, reply, self.case.request)
        return Seen(
            tools=tuple(call.name for call in calls),
            calls=tuple(f"{call.name} {call.text}" for call in calls),
            text=reply.text or "",
        )
