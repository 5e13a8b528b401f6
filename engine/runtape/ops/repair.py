"""`fix`: which changes make a recorded decision go away, and what they break."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

import anyio

from ..context.apply import apply
from ..context.recast import PLACES
from ..errors import BadInput, BudgetSpent, ModelFailed
from ..report.phrases import number, of
from ..report.results import Cause, FixReport, StoppedBy, WhyReport
from ..said import Said
from ..sample.amount import Ceiling
from ..sample.drive import drive
from ..wire.definitions import names_of
from .arms import Arm
from .asking import Asked, Asking, ModelInput, asking_models
from .case import Case, EventInput, TraceInput, open_case, selection_of
from .controls import Control, ControlInput, applicable, named_controls, own_controls
from .coverage import coverage
from .ending import Ending, ending_of
from .forms import NOT_WIDE, Form, checked, forms, has_forms
from .holding import FIRST, HELD
from .investigation import Inquiry, investigate
from .judges import JudgeInput
from .judging import Judging
from .measured import remember
from .pace import ROUNDS, OnProgress, Pace
from .panel import Panel
from .proposals import BUILT_IN, RESERVE, CandidateInput, Proposal, built_in, proposed
from .shortlist import best_of, race_order, shortlist
from .trial import ALLOWANCE, Trial

CONTROL_RUNS = 3
"""Reruns of each control as recorded."""
MEASURING = 4
"""Waits, one after another, of a usual trial of candidates."""
_TOO_RARE = "The decision was made again in {} reruns: too rarely to show that a change removes it."


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be measured."""

    case: Case
    candidates: tuple[CandidateInput, ...] = ()
    controls: tuple[ControlInput, ...] = ()
    runs: int = 10
    budget: int = 600
    """Samples that the search for the cause may plan with."""
    variants: tuple[str, ...] = ()
    """What the cause could say in other words."""
    wide: bool = True
    """Whether a change that would pass is also tried with the cause in other places and words."""

    def __post_init__(self) -> None:
        if self.runs < 1:
            raise BadInput(f"runs={self.runs} reruns nothing. Ask for at least 1.")


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
        args: The decision is the recorded tool call with the same values of these arguments, such as `amount` or
            `order.items[0].price`, whatever the others are.
        where: The decision is a tool call whose arguments fulfil a condition, such as `amount > 1000`; the language is
            described in `runtape.decision.condition_text`.
        judge: The decision is what a judge says it is: a function from the reply (a dict) to True, False, or None for
            neither, its name as `module:function` or `file.py:function`, or a yes-or-no question such as "Does the
            answer promise a refund?", which the model is asked about every reply, at one call each.
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
        The report, the caller's candidates last. `stopped` says why when the run ended early.

    Raises:
        BadInput: there is no such trace, event, decision, model or control, or a candidate is malformed.
        ModelFailed: the model gave no answer at all.
    """
    case = open_case(
        trace, event, selection_of(tool, match, exact_args=exact_args, args=args, where=where, judge=judge)
    )
    ceiling = Ceiling(budget_tokens, budget_usd)
    asking = Asking(model, base_url, budget, concurrency, cache_dir, ceiling=ceiling, prices=prices, batch=batch)
    plan = Plan(case, tuple(candidates), tuple(controls), runs, budget, checked(variants))
    return await repair(plan, asking, on_progress)


async def repair(plan: Plan, asking: Asking, on_progress: OnProgress | None = None) -> FixReport:
    """The measured candidates, paid and counted as `asking` says; raises as `fix` does."""
    case = plan.case
    own = proposed(plan.candidates)
    for proposal in own:
        if proposal.edits:
            apply(case.context, proposal.edits)  # one that changes nothing is refused before anything is paid
    named = named_controls(case, plan.controls)
    pace = Pace(on_progress)
    async with asking_models(asking, lambda: pace.tell(asked.spent, asked.waiting)) as asked:
        pace.expect(asked.expect(case, ROUNDS + MEASURING))
        benign = named if plan.controls else await own_controls(case, Judging(case, asked))
        report = await _Repair(plan, own, benign, asked, pace).run()
    return replace(report, notes=[*report.notes, *remember(asking.cache_dir, case, report.candidates)])


class _Repair:
    """One run that finds the cause and measures candidates against it."""

    def __init__(self, plan: Plan, own: list[Proposal], controls: list[Control], asked: Asked, pace: Pace) -> None:
        self._plan = plan
        self._case = plan.case
        self._own = own
        self._controls = controls
        self._forms = NOT_WIDE
        self._asked = asked
        self._pace = pace

    async def run(self) -> FixReport:
        """The report; partial where something ended the run early."""
        report = await self._measured()
        self._pace.know(report.calls + report.reused, "stopped" if report.stopped else "done", report)
        self._pace.tell(self._asked.spent)
        return report

    async def _measured(self) -> FixReport:
        cause = await investigate(Inquiry(self._case, budget=self._plan.budget), self._asked, self._searching)
        if cause.stopped is not None:
            return self._report(cause, (), None, stopped=cause.stopped, stopped_by=cause.stopped_by)
        if cause.finding.status in ("not reproducible", "too rare"):
            return self._report(cause, (), None, notes=[Said(_TOO_RARE.format(of(cause.base)))])
        proposals = self._proposals(cause)
        leading = _leading(cause)
        if self._plan.wide:
            self._forms = forms(self._case, leading.refs if leading else [], self._plan.variants)
        trial = self._trial(proposals)
        self._measuring(cause, proposals, trial)
        others: list[Control | Form] = [*self._controls, *self._forms.there]
        panel = Panel([self._case, *(other.case for other in others)], self._asked)
        ending: Ending | None = None
        try:
            await drive(trial.run(), panel, on_round=lambda: self._measuring(cause, proposals, trial))
        except (BudgetSpent, ModelFailed, anyio.get_cancelled_exc_class()) as error:
            ending = ending_of(error)
            trial.take(panel.answered)
        return self._report(
            cause,
            proposals,
            trial,
            notes=[*coverage(proposals, trial, self._controls, self._forms), *panel.notes],
            stopped=ending.text if ending else None,
            stopped_by=ending.by if ending else None,
        )

    def _proposals(self, cause: WhyReport) -> tuple[Proposal, ...]:
        leading = _leading(cause)
        sources = [tool for tool in leading.tools if tool is not None] if leading else []
        ready_made = built_in(self._case.decision.tools, sources, leading.refs if leading else [], _tools(self._case))
        own = {proposal.name for proposal in self._own}
        return (*(proposal for proposal in ready_made if proposal.name not in own), *self._own)

    def _trial(self, proposals: Sequence[Proposal]) -> Trial:
        return Trial(
            {
                proposal.name: [
                    Arm(0, proposal.edits, proposal.guard),
                    *self._arms(proposal, self._controls, 1),
                    *(self._arms(proposal, self._forms.there, 1 + len(self._controls)) if has_forms(proposal) else ()),
                ]
                for proposal in proposals
            },
            [control.name for control in self._controls],
            runs=self._plan.runs,
            control_runs=CONTROL_RUNS,
            order=race_order(proposals, {proposal.name for proposal in self._own}),
            reserve=RESERVE - {proposal.name for proposal in self._own},
            forms=[form.name for form in self._forms.there],
        )

    def _arms(self, proposal: Proposal, others: Sequence[Control | Form], first: int) -> list[Arm]:
        return [
            Arm(at, applicable(other.case, proposal.edits), proposal.guard) for at, other in enumerate(others, first)
        ]

    def _searching(self, planned: int, message: str, cause: WhyReport | None) -> None:
        to_come = ALLOWANCE * (BUILT_IN - len(RESERVE) + len(self._own)) + CONTROL_RUNS * len(self._controls)
        if self._plan.wide:
            to_come += (FIRST + HELD) * (len(PLACES) + len(self._plan.variants))
        self._pace.know(planned + to_come, f"finding the cause: {message}", cause)
        self._pace.tell(self._asked.spent)

    def _measuring(self, cause: WhyReport, proposals: Sequence[Proposal], trial: Trial) -> None:
        report = self._report(cause, proposals, trial)
        self._pace.know(report.planned, f"measuring {number(len(proposals), 'candidate')}", report)
        self._pace.tell(self._asked.spent)

    def _report(
        self,
        cause: WhyReport,
        proposals: Sequence[Proposal],
        trial: Trial | None,
        *,
        notes: Sequence[str] = (),
        stopped: str | None = None,
        stopped_by: StoppedBy | None = None,
    ) -> FixReport:
        spent = self._asked.spent
        measured = shortlist(proposals, trial, self._controls) if trial else []
        base = (trial.base.kept, trial.base.n) if trial and trial.base.n else cause.base
        # The trial asks for the reruns as recorded again, which the search has drawn.
        planned = (
            cause.finding.samples + trial.planned - min(cause.base[1], trial.planned_base) if trial else cause.planned
        )
        return FixReport(
            trace=cause.trace,
            event=cause.event,
            decision=cause.decision,
            base=base,
            candidates=measured,
            best=best_of(measured),
            calls=spent.calls,
            reused=spent.reused,
            requests=spent.requests,
            stopped=stopped,
            notes=list(dict.fromkeys([*cause.notes, *notes])),
            stopped_by=stopped_by,
            planned=planned,
            why=cause,
        )


def _tools(case: Case) -> dict[str, str]:
    """What the request says that each tool does."""
    slots = (slot for slot in case.context.slots if slot.kind == "tool_definition" and slot.parameter is None)
    said = {slot.tool: slot.text for slot in slots if slot.tool is not None}
    return {name: said.get(name, "") for name in names_of(case.request.body.get("tools"))}


def _leading(cause: WhyReport) -> Cause | None:
    """The cause that the candidates are made for: what the agent cannot work without is none."""
    return next((found for found in cause.causes if found.kind != "required"), None)
