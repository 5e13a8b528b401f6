"""One search for what a recorded decision depends on, with everything around it: its question, model, report."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import anyio

from ..context.apply import remove
from ..decision.wording import decision_text
from ..errors import BadInput, BudgetSpent, ModelFailed
from ..report.results import WhyReport
from ..said import Said
from ..sample.asks import Ask
from ..sample.drive import drive
from ..sample.oracle import Oracle
from ..search.attribute import Attribution
from ..search.finding import Finding
from ..search.ledger import BASE
from ..search.opening import BASE_SAMPLES
from ..search.protocol import Want
from ..search.settings import Depth, Profile, Settings
from ..stats.tally import Outcome, Tally
from ..wire.values import Reply, Request
from .asking import Asked
from .case import Case
from .ending import GO_ON, Ending, ending_of, not_rerun
from .hunch import CALLS, Hunch, hunch_of
from .judging import Judging
from .lead import Lead
from .lead import lead as find_lead
from .pace import PLANNED
from .posing import problem_of
from .salting import salted, series_of
from .suspects import find_suspects
from .telling import why_report

OPENING = BASE_SAMPLES
"""Reruns of the recorded context that go first, in one request where the API knows `n`: whether the server honours it
decides how the search spreads its samples. As many as the search begins with, so that they cost one context."""

_CHANGING = (
    "The model behind the server changed during the search: its reruns as recorded do not agree with those before. "
    "Pin a version of the model, or send to one server."
)

Heard: TypeAlias = Callable[[int, str, WhyReport | None], None]
"""Takes the samples expected in all, what is being done, and the report so far; None before anything was sent."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What a search is to find out."""

    case: Case
    suspects: tuple[str, ...] = ()
    depth: Literal["quick", "full", "upstream"] = "quick"
    budget: int = 400
    """Samples that the search may plan with; with depth `upstream`, those of all links together."""
    runs: int = 0
    judge: Callable[[Reply], Outcome] | None = None
    """What a reply did, where another rule than that of the case says it."""
    words: str | None = None
    """The decision in words, where it is not all that the reply does."""
    ask: bool = False
    """Whether the model is asked for a suspect first; with depth `upstream`, once for each link."""
    likelihood: bool | None = None
    """Whether the chance of the decision says where to look first; None to use it on a server of this machine."""
    precise: bool = False
    fast: bool = False

    def __post_init__(self) -> None:
        if self.runs < 0:
            raise BadInput(f"runs={self.runs} is negative. Give 0 or more.")


async def investigate(question: Inquiry, asked: Asked, heard: Heard | None) -> WhyReport:
    """The answer to a question; partial where something ended the search early.

    `heard` is called before the search and after every round, with the samples expected in all, what is being done, and
    the report so far. Without it none of that is put together, which takes longer than the search itself.

    Raises:
        BadInput: a suspect is not in the context, or there is no model.
        ModelFailed: the model gave no answer at all.
    """
    case, request = question.case, question.case.request
    hunch = Hunch(find_suspects(case.context, question.suspects))
    judging = Judging(case, asked)
    investigation = _Investigation(question, hunch, asked, judging, heard)
    if heard is not None:
        heard(investigation.planned + (CALLS if question.ask else 0), PLANNED, None)
    with suppress(BudgetSpent):  # the search comes to the same end, and reports it
        await judging.need_recorded()
    if question.ask:
        hunch = hunch.also(await hunch_of(case, _words(question), asked))
        investigation = _Investigation(question, hunch, asked, judging, heard)
    with suppress(BudgetSpent):
        await asked.sampler(request).samples_at_once(Ask(request, series_of(case, BASE), OPENING))
    return await investigation.run()


def planned_calls(question: Inquiry, asked: Asked) -> int:
    """Samples that a search for the answer is expected to need; nothing is sent. Raises `BadInput` as it does."""
    hunch = Hunch(find_suspects(question.case.context, question.suspects))
    return _Investigation(question, hunch, asked, Judging(question.case, asked), None).planned


class _Investigation:
    """One search for the causes of one decision."""

    def __init__(self, question: Inquiry, hunch: Hunch, asked: Asked, judging: Judging, heard: Heard | None) -> None:
        self._question = question
        self._case = case = question.case
        self._asked = asked
        self._heard = heard
        self._hunch = hunch
        self._problem = problem_of(case, hunch.suspects, _words(question))
        self._oracle = Oracle(
            self._render,
            question.judge or judging.outcome,
            asked.sampler(case.request),
            None if question.judge else judging.learn,
        )
        self._begin(Lead())

    def _begin(self, lead: Lead) -> None:
        """Sets up the search behind what is known beforehand."""
        question, guess = self._question, lead.guess
        at_once = self._asked.model(self._case.request).max_n
        # A judge is asked about every answer, so that answers are dear however many share a request.
        shared = at_once > 1 and self._case.selection.judge is None
        profile: Profile = "waves" if self._asked.in_batches else "contexts" if shared else "calls"
        problem = replace(self._problem, suspects=self._problem.suspects | guess.suspects, together=guess.together)
        depth: Depth = "full" if question.depth == "full" else "quick"
        self._lead = lead
        budget = max(0, question.budget - self._before)
        settings = Settings(
            depth,
            budget,
            profile,
            question.runs,
            precise=question.precise,
            fast=question.fast,
        )
        self._attribution = Attribution(problem, settings)
        guesses = problem.suspects.union(*problem.together)
        self._search = salted(self._attribution.run(), self._case, guesses)

    @property
    def planned(self) -> int:
        """Samples that the search is expected to need."""
        return self._attribution.finding().planned

    @property
    def _before(self) -> int:
        """Model calls that went before the search."""
        return self._hunch.calls + self._lead.guess.passes

    async def run(self) -> WhyReport:
        self._begin(Lead())  # whether the server honours `n` is known by now
        self._know()
        self._begin(await self._find_lead())
        try:
            finding = await drive(self._search, self._oracle, on_round=self._know)
            ending = self._unfinished(finding)
        except (BudgetSpent, ModelFailed, anyio.get_cancelled_exc_class()) as error:
            finding = self._attribution.finding(stopped=True)
            ending = ending_of(error)
            if not finding.base.n and ending.by != "budget":
                raise  # nothing is known yet that a report could keep
        report = self._report(finding, ending)
        if self._heard is not None:
            self._heard(finding.samples + self._before, "done" if ending is None else "stopped", report)
        return report

    async def _find_lead(self) -> Lead:
        """Where to look first, when the chance of the decision can be read."""
        question, case = self._question, self._case
        if question.judge is not None:
            return Lead()  # the decision is more than the name of a tool

        async def reruns() -> Tally:
            base: Want[frozenset[int]] = Want(frozenset(), BASE_SAMPLES, series_of(case, BASE))
            return (await self._oracle.answer([base]))[0]

        return await find_lead(
            case,
            self._problem,
            self._asked,
            reruns,
            self._render,
            wanted=question.likelihood,
            budget=max(0, question.budget - self._hunch.calls),
        )

    def _know(self) -> None:
        if self._heard is None:
            return
        finding = self._attribution.finding()
        self._heard(finding.planned + self._before, _message(finding), self._report(finding, None))

    def _render(self, leaves: frozenset[int]) -> Request:
        return remove(self._case.context, leaves) if leaves else self._case.request

    def _report(self, finding: Finding, ending: Ending | None) -> WhyReport:
        report = why_report(
            self._case,
            finding,
            self._asked.spent,
            notes=[
                *self._case.caveats,
                *(told for told in (self._hunch.note, self._lead.told) if told),
                *self._notes(),
            ],
            passes=self._lead.guess.passes,
            stopped=ending.text if ending else None,
            stopped_by=ending.by if ending else None,
        )
        return replace(report, planned=report.planned + self._hunch.calls)

    def _notes(self) -> list[Said]:
        return list(dict.fromkeys([*self._oracle.notes, *self._asked.notes]))

    def _unfinished(self, finding: Finding) -> Ending | None:
        match finding.unfinished:
            case "budget":
                limit, used = self._question.budget, finding.samples + self._before
                fits = f"The next reruns do not fit the budget: {used} of {limit} model calls. {GO_ON}"
                return Ending("budget", Said(fits))
            case "void answers":
                return Ending("model", Said(f"Too many answers do not count as a decision of either kind. {GO_ON}"))
            case "drift":
                return Ending("model", Said(f"{_CHANGING} {GO_ON}"))
            case None if finding.status == "not enough reruns" and finding.base.broken is not None:
                return not_rerun(finding.base.broken)
            case _:
                return None


def _words(question: Inquiry) -> str:
    return decision_text(question.case.reply) if question.words is None else question.words


def _message(finding: Finding) -> str:
    if not finding.base.n:
        return "rerunning the decision as recorded"
    return f"{len(finding.claims)} proven, {len(finding.suspects)} suspected"
