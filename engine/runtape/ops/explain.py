"""The whole of `why`: a question answered, planned, or guessed at from the wording alone."""

from __future__ import annotations

import anyio

from ..context.suspicion import suspicion
from ..decision.wording import decision_text
from ..report.ranking import Ranking
from ..report.results import Progress, WhyReport
from .asking import Asking, asking_models
from .case import Case
from .investigation import Inquiry, investigate
from .pace import ROUNDS, OnProgress, Pace
from .telling import ranking
from .upstream import trace_back


async def explain(question: Inquiry, asking: Asking, on_progress: OnProgress | None = None) -> WhyReport:
    """The answer to a question, paid and counted as `asking` says; raises as `why` does."""
    pace = Pace(on_progress)
    async with asking_models(
        asking, lambda: pace.tell(asked.spent, asked.waiting), lambda: pace.begin(asked.spent)
    ) as asked:
        pace.expect(asked.expect(question.case, ROUNDS))

        def heard(planned: int, message: str, report: WhyReport | None) -> None:
            pace.know(planned, message, report)
            pace.tell(asked.spent)

        if question.depth == "upstream":
            report = await trace_back(question, asked, heard)
        else:
            report = await investigate(question, asked, heard if on_progress is not None else None)
        pace.begin(asked.spent)
        return report


async def plan(question: Inquiry, asking: Asking) -> Progress:
    """What the answer is expected to cost beside the replies that are kept; see `Progress`. Sends nothing.

    Raises:
        BadInput: a suspect is not in the context, or there is no model.
    """
    told: list[Progress] = []
    with anyio.CancelScope() as scope:

        def heard(progress: Progress) -> None:
            told.append(progress)
            scope.cancel()

        await explain(question, asking, heard)
    return told[0]


def dry(case: Case) -> Ranking:
    """The pieces of a decision's context, those first whose words point to it. Asks no model, proves nothing."""
    return ranking(case, suspicion(case.context, decision_text(case.reply)))
