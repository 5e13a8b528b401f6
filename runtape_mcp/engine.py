"""The verbs of `runtape`, bound to one launch.

Loading them takes seconds, so nothing of theirs is imported before the first question.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import anyio.to_thread

from runtape.errors import ModelFailed, RuntapeError
from runtape.sample.amount import Ceiling, Wallet

from .library import Library
from .settings import Settings
from .verbs import Decision, FixQuestion, NewTest, Question, RerunQuestion, WhyQuestion
from .work import Brake, Ended, Report, Stretch, Work

if TYPE_CHECKING:
    from runtape.ops.case import Selection
    from runtape.sample.budget import Budget
    from runtape.trace.trace import Trace

PLAN = 400
"""Samples a search may plan with, kept replies included. What it may pay for is another, smaller number."""


@dataclass(frozen=True, slots=True)
class Engine:
    """Answers questions with the recorded API or the model function of the launch."""

    settings: Settings
    library: Library
    wallet: Wallet = field(default_factory=Wallet)
    """The money of this process: jobs at work at the same time keep to its limit together."""

    def work(self, question: Question) -> Work:
        """The work that answers a question."""
        return EngineWork(self.settings, self.library, question, self.wallet)

    def write_test(self, test: NewTest, project: Path) -> Path:
        """Writes a new test inside the project; see `runtape.write_test`."""
        from runtape.ops.regression import write_test

        about = test.decision
        return write_test(
            about.trace,
            about.event,
            test.path,
            fix=test.fix,
            add_system=test.add_system,
            system_from=test.system_from,
            clean_with=test.clean_with,
            guard_with=test.guard_with,
            controls=test.controls or None,
            tool=about.tool,
            match=about.match,
            args=about.args,
            where=about.where,
            judge=_selection(about, self.settings, about.trace).judge,
            model=self.settings.model_fn,
            base_url=self.settings.base_url,
            root=project,
            cache_dir=self.settings.state,
        )


@dataclass(frozen=True, slots=True)
class EngineWork:
    """One question to the engine."""

    settings: Settings
    library: Library
    question: Question
    wallet: Wallet

    async def paid(self, job: str) -> int:
        """Model calls that the reply cache counts under this name."""
        return await anyio.to_thread.run_sync(_paid, self.settings.state, job)

    async def run(self, stretch: Stretch) -> Ended:
        """One run of the verb; replies that are in the cache cost nothing."""
        await anyio.to_thread.run_sync(importlib.import_module, "runtape.aio")
        from runtape.sample.budget import Budget
        from runtape.sample.cache import ReplyCache

        ceiling = Ceiling(usd=self.settings.max_usd)
        with ReplyCache(self.settings.state) as book:
            purse = Budget(
                stretch.calls, ceiling, on_cost=lambda calls: book.charge(stretch.job, calls), wallet=self.wallet
            )
            stretch.brake.then(purse.close)
            stretch.meter.reads(lambda: purse.spent)
            report = await self._verb(stretch, purse)
            return Ended(report, _ended_by(report, stretch.brake, purse))

    async def _verb(self, stretch: Stretch, purse: Budget) -> Report:
        from runtape.ops.asking import Asking
        from runtape.ops.case import open_case
        from runtape.ops.changes import Change
        from runtape.ops.explain import explain
        from runtape.ops.forms import checked
        from runtape.ops.investigation import Inquiry
        from runtape.ops.repair import Plan, repair
        from runtape.ops.rerunning import send_again
        from runtape.sample.resolve import resolve

        about, launch = self.question.decision, self.settings
        # A large trace takes long to read, and the user's module to import: meanwhile pings and cancels are answered.
        trace = await self.library.load(about.trace)
        selection = await anyio.to_thread.run_sync(_selection, about, launch, trace)
        case = await anyio.to_thread.run_sync(open_case, trace, about.event, selection)
        model = None
        if launch.model_fn is not None:
            model = await anyio.to_thread.run_sync(partial(resolve, case.request, model=launch.model_fn))
        asking = Asking(
            model, launch.base_url, cache_dir=launch.state, job=stretch.job, purse=purse, prices=launch.prices
        )
        plan = max(PLAN, launch.max_calls)
        match self.question:
            case WhyQuestion() as why:
                inquiry = Inquiry(case, why.suspects, why.depth, plan, ask=why.ask, precise=why.precise, fast=why.fast)
                return await explain(inquiry, asking, stretch.on_progress)
            case FixQuestion() as fix:
                controls = tuple([(await self.library.load(path), event) for path, event in fix.controls])
                measured = Plan(
                    case, fix.candidates, controls, budget=plan, variants=checked(fix.variants), wide=bool(fix.variants)
                )
                return await repair(measured, asking, stretch.on_progress)
            case RerunQuestion() as rerun:
                change = Change(rerun.drop, rerun.replace, rerun.system, rerun.add_system, model_name=rerun.model)
                return await send_again(case, change, asking, stretch.on_progress, runs=rerun.runs)


def _selection(about: Decision, launch: Settings, trace: Trace | Path) -> Selection:
    """What counts as the decision.

    The judge function of the launch is for answers in text that nothing else tells apart; a question goes to a model.
    """
    from runtape.ops.case import Selection, open_case
    from runtape.ops.judges import JudgeModel, judge_function

    selection = Selection(
        about.tool,
        about.match,
        about.exact_args,
        about.args,
        about.where,
        JudgeModel(about.judge) if about.judge is not None else None,
    )
    if launch.judge_fn is None or selection.judge is not None or about.match is not None:
        return selection
    if open_case(trace, about.event, selection).decision.tools:
        return selection
    return replace(selection, judge=judge_function(launch.judge_fn))


def _paid(folder: Path, job: str) -> int:
    if not folder.exists():
        return 0
    from runtape.sample.cache import ReplyCache

    with ReplyCache(folder) as cache:
        return cache.paid(job)


def _ended_by(report: Report, brake: Brake, purse: Budget) -> Literal["limit", "money", "brake"] | RuntapeError | None:
    if report.stopped_by is None:
        return None
    if report.stopped_by == "model":
        return ModelFailed(report.stopped or "the model could not answer")
    if brake.pulled:
        return "brake"
    if purse.short:
        return "money"
    # With calls left over it is the plan that is used up, and going on would not change the answer.
    return None if purse.left else "limit"
