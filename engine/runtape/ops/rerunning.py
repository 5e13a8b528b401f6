"""`rerun`: what a recorded decision becomes, as it was or with a change."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..errors import BadInput, BudgetSpent, ModelFailed
from ..report.results import Distribution, Seen
from ..said import Said
from ..sample.amount import Ceiling
from ..sample.asks import Ask, Drawn, look
from ..sample.cache import key_of
from ..sample.judged import counts, draw_judged
from ..sample.model import Answer
from ..sample.sampler import Sampler
from ..search.ledger import BASE
from ..stats.tally import Outcome, count
from ..wire.dialects import dialect_for
from ..wire.values import Reply
from .asking import Asked, Asking, ModelInput, asking_models
from .case import Case, EventInput, TraceInput, open_case, selection_of
from .changes import Change, Cleaner, Edits, Replacement
from .ending import Ending, ending_of, not_rerun
from .guard import AnyGuard, GuardInput, behind, guard_of, let_through
from .judges import JudgeInput
from .judging import Judging
from .left_out import left_out
from .pace import OnProgress, Pace
from .salting import series_of
from .session import current

FIRST_LOOK, STEP = 4, 8
"""Reruns before the first time that a rule may end them, and most reruns between two such times: each is a wait."""
Until: TypeAlias = Callable[[Distribution], bool]
"""Whether the reruns so far are enough."""
RERUN = "rerun"
"""Series of the samples of changed contexts."""
_SAME_SYSTEM = Said("The system prompt that was given is the recorded one.")


async def rerun(
    trace: TraceInput,
    event: EventInput,
    *,
    runs: int = 10,
    drop: str | Iterable[str] = (),
    replace: Replacement | None = None,
    system: str | None = None,
    add_system: str | None = None,
    clean: str | Iterable[str] | Cleaner = (),
    mark: str | None = None,
    describe: Mapping[str, str] | None = None,
    edit: Edits | None = None,
    model: ModelInput = None,
    base_url: str | None = None,
    model_name: str | None = None,
    tool: str | None = None,
    match: str | None = None,
    exact_args: bool = False,
    args: Sequence[str] = (),
    where: str | None = None,
    judge: JudgeInput = None,
    guard: GuardInput = None,
    until: Until | None = None,
    budget: int | None = None,
    budget_tokens: int | None = None,
    budget_usd: float | None = None,
    prices: str | os.PathLike[str] | None = None,
    cache_dir: str | os.PathLike[str] | None = ".runtape",
    batch: bool = False,
    on_progress: OnProgress | None = None,
) -> Distribution:
    """What the model does when a recorded call is sent again, with or without a change.

    The agent and its tools are not run.

    Args:
        trace: A path, a Trace, the name of a trace in $RUNTAPE_DIR (`./traces`), or `last`.
        event: An event number, `tool:NAME` (the last call of that tool) or `last`.
        runs: Replies that count; one that was cut, filtered or unreadable is replaced a few times.
        drop: References of pieces to leave out.
        replace: {old: new}, (old, new) or `old=>new`, for every occurrence in the context.
        system: The system prompt to use.
        add_system: A text to append to the system prompt.
        clean: Texts to leave out of what tools returned, or a function from such a text to the text to send.
        mark: "delimiters" or "datamarking": mark what tools returned as data.
        describe: {tool: text}: the descriptions that these tools get.
        edit: Edits as values.
        model: A function, a Model or the name of a function; the recorded API when None.
        base_url: The server to ask; needed when the recorded address is not the provider's own.
        model_name: Another model of the same API.
        tool: The decision is that this tool is called.
        match: The decision is that the call or the text matches this regular expression.
        exact_args: The decision is the recorded tool call with exactly these arguments.
        args: The decision is the recorded tool call with the same values of these arguments, such as `amount` or
            `order.items[0].price`, whatever the others are.
        where: The decision is a tool call whose arguments fulfil a condition, such as `amount > 1000`; the language is
            described in `runtape.decision.condition_text`.
        judge: The decision is what a judge says it is: a function from the reply (a dict) to True, False, or None for
            neither, its name as `module:function` or `file.py:function`, or a yes-or-no question such as "Does the
            answer promise a refund?", which the model is asked about every reply, at one call each.
        guard: A check of tool calls outside the model: a function from a call ({"name", "arguments"}) and the request
            (both dicts) to True when the call may go through, `TOOL.ARGUMENT` for values that the user wrote, or `TOOL`
            for a gate. A call that it holds back was not made.
        until: Ends the reruns early: it is asked after every few replies, with what they did so far, whether they are
            enough. `lambda seen: seen.rate("pay") > 0` stops at the first call, and
            `lambda seen: seen.rate_settled("pay", 0.1)` when `rate_below` has its answer.
        budget: Most model calls; None for no limit.
        budget_tokens: Most tokens, input and output together. What a request can use at most is set aside before it is
            sent, and what it used is counted when it is answered.
        budget_usd: Most money, in US dollars; kept in the same way, by `prices`.
        prices: A file of prices, or `public` for those of the package genai-prices; see `runtape.sample.prices`.
        cache_dir: The folder for replies; None to ask the model every time.
        batch: Whether the reruns go through the batch API of OpenAI or Anthropic: at half price, within a day for each
            wait. A batch is never submitted twice; the same call after an interruption picks it up, also days later.
        on_progress: Called with a Progress whenever there is news.

    Returns:
        What the replies did, how often. `stopped` says why when there are fewer than asked for.

    Raises:
        BadInput: there is no such trace, event, decision or model, or an edit changes nothing.
        BudgetSpent: the budget allows no reply at all.
        ModelFailed: the model gave no answer at all.
    """
    case = open_case(
        trace, event, selection_of(tool, match, exact_args=exact_args, args=args, where=where, judge=judge)
    )
    guarded = guard_of(guard)
    change = Change(drop, replace, system, add_system, clean, mark, describe, edit, model_name)
    ceiling = Ceiling(budget_tokens, budget_usd)
    session = current()
    if session is None:
        asking = Asking(model, base_url, budget, cache_dir=cache_dir, ceiling=ceiling, prices=prices, batch=batch)
        return await send_again(case, change, asking, on_progress, runs=runs, until=until, guard=guarded)
    if session.before is not None:
        session.before()
    model, base_url = model or session.model, base_url or session.base_url
    purse = session.purse(budget, ceiling)
    asking = Asking(
        model, base_url, budget, cache_dir=cache_dir, ceiling=ceiling, purse=purse, prices=prices, batch=batch
    )
    runs = session.runs or runs
    found = await send_again(case, change, asking, on_progress, runs=runs, until=until, guard=guarded)
    session.seen.append(found)
    return found


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
    notes = [*case.caveats, *left_out(case.request)]
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

    async with asking_models(asking, None if on_progress is None else tell) as asked:
        sizes = [runs] if until is None else _looks(runs)
        pace.expect(asked.expect(case, len(sizes)))
        judging = Judging(case, asked)
        ask = Ask(request, series, runs, lambda answer: counts(answer, judging.outcome))
        await judging.need_recorded()
        looks = iter(sizes)
        while True:
            size = next(looks)
            drawn, ending = await _drawn(asked, replace(ask, n=size), judging)
            seen = _distribution(Read(case, judging, guard), drawn, asked, runs=runs, notes=notes, ending=ending)
            if size == runs or ending is not None or seen.tally.broken:
                return seen
            if until is not None and len(seen) and until(seen):
                return replace(seen, enough=True)


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
        notes=[*notes, *asked.notes],
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
