"""The whole of `fix`: which changes make a recorded decision go away, and what they break."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import anyio

from ..context.apply import apply
from ..context.edits import by_place
from ..context.recast import PLACES
from ..errors import BadInput, BudgetSpent, ModelFailed
from ..report.phrases import number, of
from ..report.results import Cause, FixReport, StoppedBy, WhyReport
from ..said import Said
from ..sample.drive import drive
from ..wire.definitions import names_of
from .arms import Arm
from .asking import Asked, Asking, asking_models
from .case import Case
from .controls import Control, ControlInput, applicable, named_controls, own_controls
from .coverage import coverage
from .ending import Ending, ending_of
from .forms import NOT_WIDE, Form, forms
from .holding import FIRST, HELD
from .investigation import Inquiry, investigate, planned_calls
from .judging import Judging
from .pace import PLANNED, ROUNDS, OnProgress, Pace
from .panel import Panel
from .proposals import BUILT_IN, RESERVE, CandidateInput, Proposal, built_in, proposed
from .remembered import remember
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


async def repair(plan: Plan, asking: Asking, on_progress: OnProgress | None = None) -> FixReport:
    """The measured candidates, paid and counted as `asking` says; raises as `fix` does."""
    case = plan.case
    own = proposed(plan.candidates)
    for proposal in own:
        if proposal.edits:
            apply(case.context, proposal.edits)  # one that changes nothing is refused before anything is paid
    named = named_controls(case, plan.controls)
    pace = Pace(on_progress)
    async with asking_models(
        asking, lambda: pace.tell(asked.spent, asked.waiting), lambda: pace.begin(asked.spent)
    ) as asked:
        pace.expect(asked.expect(case, ROUNDS + MEASURING))
        report = await _Repair(plan, own, named, asked, pace).run()
        pace.begin(asked.spent)
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
        question = Inquiry(self._case, budget=self._plan.budget)
        self._searching(planned_calls(question, self._asked), PLANNED, None)
        if not self._plan.controls:
            self._controls = await own_controls(self._case, Judging(self._case, self._asked))
        cause = await investigate(question, self._asked, self._searching)
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
            {proposal.name: self._arms(proposal) for proposal in proposals},
            [control.name for control in self._controls],
            runs=self._plan.runs,
            control_runs=CONTROL_RUNS,
            order=race_order(proposals, {proposal.name for proposal in self._own}),
            reserve=RESERVE - {proposal.name for proposal in self._own},
            forms=[form.name for form in self._forms.there],
        )

    def _arms(self, proposal: Proposal) -> list[Arm]:
        """The arm on the bad decision, then those on the controls, then those on the other forms of the cause."""
        forms = () if by_place(proposal.edits) else self._forms.there
        others: list[Control | Form] = [*self._controls, *forms]
        arms = (Arm(at, applicable(other.case, proposal.edits), proposal.guard) for at, other in enumerate(others, 1))
        return [Arm(0, proposal.edits, proposal.guard), *arms]

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
