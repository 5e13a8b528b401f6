"""The public verbs that rerun a recorded model call, as coroutines: arguments in, a report out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from ..report.results import Distribution, FixReport, WhyReport
from ..sample.amount import Ceiling
from .as_called import knows_its_call
from .asking import Asking, ModelInput
from .case import EventInput, TraceInput, open_case, selection_of
from .changes import Change, Cleaner, Edits, Replacement
from .controls import ControlInput
from .explain import explain
from .forms import checked
from .guard import GuardInput, guard_of
from .investigation import Inquiry
from .judges import JudgeInput
from .pace import OnProgress
from .proposals import CandidateInput
from .repair import Plan, repair
from .rerunning import Until, send_again
from .session import current


@knows_its_call
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
    selection = selection_of(tool, match, exact_args=exact_args, args=args, where=where, judge=judge)
    case = open_case(trace, event, selection)
    question = Inquiry(
        case, tuple(suspects), depth, budget, runs, ask=ask, likelihood=likelihood, precise=precise, fast=fast
    )
    ceiling = Ceiling(budget_tokens, budget_usd)
    asking = Asking(model, base_url, budget, concurrency, cache_dir, ceiling=ceiling, prices=prices, batch=batch)
    return await explain(question, asking, on_progress)


@knows_its_call
async def fix(
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
    candidates: Sequence[CandidateInput] = (),
    controls: Sequence[ControlInput] = (),
    variants: Sequence[str] = (),
    runs: int = 10,
    budget: int = 600,
    budget_tokens: int | None = None,
    budget_usd: float | None = None,
    prices: str | os.PathLike[str] | None = None,
    concurrency: int = 16,
    cache_dir: str | os.PathLike[str] | None = ".runtape",
    batch: bool = False,
    on_progress: OnProgress | None = None,
) -> FixReport:
    """Candidate fixes, measured on the exact context that failed and on decisions that they must not break.

    First `why` finds the cause; its reruns are in the same cache. Then the candidates run a race: rules for the system
    prompt that name the source and the action, the source left out, and the caller's own; where none of them passes,
    the action's description and marks on what tools return. Those with which the decision is still made are out after
    a first look, the leading ones are confirmed. One that would pass is then tried in other forms of the attack: with
    the cause moved to the start and to the end of its text and into another tool result, and in the wordings that the
    caller gives. The agent and its tools are not run.

    Args:
        trace: A path, a Trace, the name of a trace in $RUNTAPE_DIR (`./traces`), or `last`.
        event: An event number, `tool:NAME` (the last call of that tool) or `last`.
        model: A function, a Model or the name of a function; the recorded API when None.
        base_url: The server to ask; needed when the recorded address is not the provider's own.
        tool: The decision is that this tool is called.
        match: The decision is that the call or the text matches this regular expression.
        exact_args: The decision is the recorded tool call with exactly these arguments.
        args: The decision is the recorded tool call with the same values of these arguments; see `why`.
        where: The decision is a tool call whose arguments fulfil a condition; see `why`.
        judge: The decision is what a function or a model says it is; see `why`.
        candidates: Changes of your own: {"name", and one or more of "add_system", "system", "replace", "clean",
            "mark", "describe", "drop"}; "mark" is "delimiters" or "datamarking" of what tools return, with a sentence
            for the system prompt where "add_system" gives none, and "describe" {tool: its new description};
            {"name", "guard": "TOOL.ARGUMENT"} for a check outside the model, {"name", "guard": "TOOL"} for a gate that
            holds every call of the tool back, or edits.
        controls: Decisions that must not be lost, as (trace, event), `TRACE:EVENT` or `EVENT`; by default other
            decisions of the run.
        variants: What the cause could say in other words, as an attacker would; each is one more form of it.
        runs: Reruns of the bad decision as recorded. A first look at a candidate takes half as many; the ones that
            lead are then rerun up to 34 times, the controls until they show a loss or none, and each other form of the
            cause 10 times, after 3 to 10 reruns of it without a change.
        budget: Most model calls, the search for the cause included.
        budget_tokens: Most tokens, input and output together; see `why`.
        budget_usd: Most money, in US dollars, by `prices`.
        prices: A file of prices, or `public` for those of the package genai-prices; see `runtape.sample.prices`.
        concurrency: Requests at the same time.
        cache_dir: The folder for replies; None to keep none.
        batch: Whether the reruns go through the batch API of OpenAI or Anthropic; see `why`.
        on_progress: Called with a Progress whenever there is news.

    Returns:
        The report, the caller's candidates last. `stopped` says why when the run ended early.

    Raises:
        BadInput: there is no such trace, event, decision, model or control, or a candidate is malformed.
        ModelFailed: the model gave no answer at all.
    """
    selection = selection_of(tool, match, exact_args=exact_args, args=args, where=where, judge=judge)
    ceiling = Ceiling(budget_tokens, budget_usd)
    asking = Asking(model, base_url, budget, concurrency, cache_dir, ceiling=ceiling, prices=prices, batch=batch)
    plan = Plan(open_case(trace, event, selection), tuple(candidates), tuple(controls), runs, budget, checked(variants))
    return await repair(plan, asking, on_progress)


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
        args: The decision is the recorded tool call with the same values of these arguments; see `why`.
        where: The decision is a tool call whose arguments fulfil a condition; see `why`.
        judge: The decision is what a function or a model says it is; see `why`.
        guard: A check of tool calls outside the model: a function from a call ({"name", "arguments"}) and the request
            (both dicts) to True when the call may go through, `TOOL.ARGUMENT` for values that the user wrote, or `TOOL`
            for a gate. A call that it holds back was not made.
        until: Ends the reruns early: it is asked after every few replies, with what they did so far, whether they are
            enough. `lambda seen: seen.rate("pay") > 0` stops at the first call, and
            `lambda seen: seen.rate_settled("pay", 0.1)` when `rate_below` has its answer.
        budget: Most model calls; None for no limit.
        budget_tokens: Most tokens, input and output together; see `why`.
        budget_usd: Most money, in US dollars, by `prices`.
        prices: A file of prices, or `public` for those of the package genai-prices; see `runtape.sample.prices`.
        cache_dir: The folder for replies; None to ask the model every time.
        batch: Whether the reruns go through the batch API of OpenAI or Anthropic; see `why`.
        on_progress: Called with a Progress whenever there is news.

    Returns:
        What the replies did, how often. `stopped` says why when there are fewer than asked for.

    Raises:
        BadInput: there is no such trace, event, decision or model, or an edit changes nothing.
        BudgetSpent: the budget allows no reply at all.
        ModelFailed: the model gave no answer at all.
    """
    selection = selection_of(tool, match, exact_args=exact_args, args=args, where=where, judge=judge)
    case, guarded = open_case(trace, event, selection), guard_of(guard)
    change = Change(drop, replace, system, add_system, clean, mark, describe, edit, model_name)
    ceiling = Ceiling(budget_tokens, budget_usd)
    asking = Asking(model, base_url, budget, cache_dir=cache_dir, ceiling=ceiling, prices=prices, batch=batch)
    session = current()
    if session is None:
        return await send_again(case, change, asking, on_progress, runs=runs, until=until, guard=guarded)
    asking, runs = session.begun(asking), session.runs or runs
    found = await send_again(case, change, asking, on_progress, runs=runs, until=until, guard=guarded)
    session.seen.append(found)
    return found
