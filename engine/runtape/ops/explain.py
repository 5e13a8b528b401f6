"""`why`: which part of the context a recorded decision depends on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

from ..context.suspicion import suspicion
from ..decision.wording import decision_text
from ..report.results import Progress, Ranking, WhyReport
from ..sample.amount import Ceiling
from .asking import Asking, ModelInput, asking_models
from .case import EventInput, Selection, TraceInput, open_case, selection_of
from .investigation import PLANNED, Inquiry, investigate, planned_calls
from .judges import JudgeInput
from .pace import ROUNDS, OnProgress, Pace
from .telling import ranking
from .upstream import trace_back


async def why(
    trace: TraceInput,
    event: EventInput,
    *,
    model: ModelInput = None,
    base_url: str | None = None,
    tool: str | None = None,
    match: str | None = None,
    exact_args: bool = False,
    args: Sequence[str] = (),
    where: str | None = None,
    judge: JudgeInput = None,
    suspects: Sequence[str] = (),
    ask: bool = False,
    depth: Literal["quick", "full", "upstream"] = "quick",
    runs: int = 0,
    likelihood: bool | None = None,
    precise: bool = False,
    fast: bool = False,
    budget: int = 400,
    budget_tokens: int | None = None,
    budget_usd: float | None = None,
    prices: str | os.PathLike[str] | None = None,
    concurrency: int = 16,
    cache_dir: str | os.PathLike[str] | None = ".runtape",
    batch: bool = False,
    on_progress: OnProgress | None = None,
) -> WhyReport:
    """The texts that a recorded decision depends on, proven by rerunning that one model call without them.

    The agent and its tools are not run. Replies are kept in `cache_dir`, so that the same question costs nothing the
    second time, and one that was interrupted goes on where it was.

    Args:
        trace: A path, a Trace, the name of a trace in $RUNTAPE_DIR (`./traces`), or `last`.
        event: An event number, `tool:NAME` (the last call of that tool) or `last`.
        model: A function from the request (a dict) to a reply, a Model, or the name of a function as
            `module:function` or `file.py:function`; the recorded API when None.
        base_url: The server to ask; needed when the recorded address is not the provider's own.
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
        suspects: References of pieces, or quoted text, to try first. They are proven like any other.
        ask: Ask the model itself which text it was, in one call, and try that first too.
        depth: `quick` stops at the first text without which the agent acts differently; `full` finds every text that
            is needed; `upstream` goes on from the leading cause when the agent wrote that text itself, to what made it
            write it, until the text came from outside.
        runs: Least reruns of the context as recorded, and without the leading cause. A search that needs more for its
            proof makes more; these only sharpen the counts.
        likelihood: Whether to look first where the log-probabilities of the tool's name point to: a few replies in
            place of dozens. None uses them on a server of this machine that gives them (llama.cpp, vLLM); claims are
            proven by reruns all the same.
        precise: At least 20 reruns of both, for narrower intervals.
        fast: Fewer rounds one after another, for more model calls.
        budget: Most model calls.
        budget_tokens: Most tokens, input and output together. What a request can use at most is set aside before it is
            sent, and what it used is counted when it is answered.
        budget_usd: Most money, in US dollars; kept in the same way, by `prices`.
        prices: A file of prices, or `public` for those of the package genai-prices; see `runtape.sample.prices`.
        concurrency: Requests at the same time.
        cache_dir: The folder for replies; None to keep none.
        batch: Whether the reruns go through the batch API of OpenAI or Anthropic: at half price, within a day for each
            wait. A batch is never submitted twice; the same call after an interruption picks it up, also days later.
        on_progress: Called with a Progress whenever there is news.

    Returns:
        The report, with depth `upstream` the further links in `upstream`. `stopped` says why when the budget, the
        model's server or a cancellation ended the search early; what was proven until then is in it.

    Raises:
        BadInput: there is no such trace, event, decision, suspect or model.
        ModelFailed: the model gave no answer at all.
    """
    case = open_case(
        trace, event, selection_of(tool, match, exact_args=exact_args, args=args, where=where, judge=judge)
    )
    question = Inquiry(
        case, tuple(suspects), depth, budget, runs, ask=ask, likelihood=likelihood, precise=precise, fast=fast
    )
    ceiling = Ceiling(budget_tokens, budget_usd)
    asking = Asking(model, base_url, budget, concurrency, cache_dir, ceiling=ceiling, prices=prices, batch=batch)
    return await explain(question, asking, on_progress)


async def explain(question: Inquiry, asking: Asking, on_progress: OnProgress | None = None) -> WhyReport:
    """The answer to a question, paid and counted as `asking` says; raises as `why` does."""
    pace = Pace(on_progress)
    async with asking_models(asking, lambda: pace.tell(asked.spent, asked.waiting)) as asked:
        pace.expect(asked.expect(question.case, ROUNDS))

        def heard(planned: int, message: str, report: WhyReport | None) -> None:
            pace.know(planned, message, report)
            pace.tell(asked.spent)

        if question.depth == "upstream":
            return await trace_back(question, asked, heard)
        return await investigate(question, asked, heard if on_progress is not None else None)


async def plan(
    trace: TraceInput,
    event: EventInput,
    *,
    depth: Literal["quick", "full", "upstream"] = "quick",
    model: ModelInput = None,
    base_url: str | None = None,
    budget: int = 400,
    prices: str | os.PathLike[str] | None = None,
) -> Progress:
    """What `why` is expected to cost where no reply is known yet; with depth `upstream`, its first link. Sends nothing.

    Raises:
        BadInput: there is no such trace, event, decision or model.
    """
    question = Inquiry(open_case(trace, event, Selection()), depth=depth, budget=budget)
    told: list[Progress] = []
    pace = Pace(told.append)
    async with asking_models(Asking(model, base_url, budget, cache_dir=None, prices=prices)) as asked:
        pace.expect(asked.expect(question.case, ROUNDS))
        pace.know(planned_calls(question, asked), PLANNED, None)
        pace.tell(asked.spent)
    return told[-1]


def dry(
    trace: TraceInput,
    event: EventInput,
    *,
    tool: str | None = None,
    match: str | None = None,
    exact_args: bool = False,
    args: Sequence[str] = (),
    where: str | None = None,
    judge: JudgeInput = None,
) -> Ranking:
    """The pieces of a decision's context, those first whose words point to it. Asks no model, proves nothing.

    Raises:
        BadInput: there is no such trace, event or decision.
    """
    case = open_case(
        trace, event, selection_of(tool, match, exact_args=exact_args, args=args, where=where, judge=judge)
    )
    return ranking(case, suspicion(case.context, decision_text(case.reply)))
