"""The whole of `why`: a question answered, planned, or guessed at from the wording alone."""

from __future__ import annotations

from dataclasses import replace

from ..context.suspicion import suspicion
from ..decision.wording import decision_text
from ..report.results import Progress, Ranking, WhyReport
from .asking import Asking, asking_models
from .case import Case
from .investigation import PLANNED, Inquiry, investigate, planned_calls
from .pace import ROUNDS, OnProgress, Pace
from .telling import ranking
from .upstream import trace_back


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


async def plan(question: Inquiry, asking: Asking) -> Progress:
    """What the answer is expected to cost where no reply is known yet; with depth `upstream`, its first link.

    Sends nothing.

    Raises:
        BadInput: a suspect is not in the context, or there is no model.
    """
    told: list[Progress] = []
    pace = Pace(told.append)
    async with asking_models(replace(asking, cache_dir=None)) as asked:
        pace.expect(asked.expect(question.case, ROUNDS))
        pace.know(planned_calls(question, asked), PLANNED, None)
        pace.tell(asked.spent)
    return told[-1]


def dry(case: Case) -> Ranking:
    """The pieces of a decision's context, those first whose words point to it. Asks no model, proves nothing."""
    return ranking(case, suspicion(case.context, decision_text(case.reply)))
