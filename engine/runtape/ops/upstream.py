"""Explains the earlier decision that wrote a cause, and the one before, until the text came from outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import anyio

from ..context.pieces import Piece
from ..decision.decision import Decision
from ..decision.wording import decision_text
from ..errors import BadInput, BudgetSpent, ModelFailed
from ..report.results import Source, WhyReport
from ..stats.tally import Outcome
from ..wire.values import Reply
from .asking import Asked
from .authors import Author, author_of, source_of
from .case import Case, Opened, Selection, case_at
from .ending import Ending, ending_of
from .investigation import Heard, Inquiry, investigate
from .substance import judge_writing, substance_of, writing
from .suspects import find_suspects

_CANNOT = "it cannot be rerun"


async def trace_back(question: Inquiry, asked: Asked, heard: Heard) -> WhyReport:
    """The answer to a question, and where its leading cause came from, link by link.

    One budget pays for all links. Each is a search of its own, over a request that was recorded before the one of the
    link after it, so the chain ends. No tool is run: a text that a tool returned ends it, and the call that fetched it
    is named. A link that fails leaves those before it as they are.

    Args:
        question: The decision at the end of the chain.
        asked: The models, the budget and the reply cache of all links.
        heard: As in `investigate`; takes the report of the whole chain so far.

    Raises:
        BadInput: a suspect is not in the context, or there is no model.
        ModelFailed: the model gave no answer at all.
    """
    return await _Chain(question, asked, heard).run()


class _Chain:
    """The links so far, the decision in question first."""

    def __init__(self, question: Inquiry, asked: Asked, heard: Heard) -> None:
        self._question = question
        self._asked = asked
        self._heard = heard
        self._links: list[WhyReport] = []
        """Links that are done."""

    async def run(self) -> WhyReport:
        """The report of the chain; partial where something ended it early."""
        question = replace(self._question, depth="quick")
        while True:
            try:
                link = await self._explained(question)
            except (BudgetSpent, ModelFailed, anyio.get_cancelled_exc_class()) as error:
                if not self._links:
                    raise  # nothing is known yet that a report could keep
                return self._last(ending=ending_of(error))
            except BadInput as error:
                if not self._links:
                    raise
                wrote = question.case.moment.response.id
                return self._last(ends=f"The reply of event {wrote} wrote it; {_CANNOT}.", note=str(error))
            step = _step(question, link)
            self._links.append(step.link)
            if step.above is None:
                return self._last(ends=step.ends)
            question = replace(
                step.above, budget=max(0, self._question.budget - sum(done.planned for done in self._links))
            )

    async def _explained(self, question: Inquiry) -> WhyReport:
        """One link, with what it alone has cost."""
        before = self._asked.spent

        def priced(report: WhyReport) -> WhyReport:
            spent = self._asked.spent
            return replace(
                report,
                calls=spent.calls - before.calls,
                reused=spent.reused - before.reused,
                requests=spent.requests - before.requests,
            )

        def heard(planned: int, message: str, report: WhyReport | None) -> None:
            if report is None:
                if not self._links:
                    self._heard(planned, message, None)
                return
            whole = self._whole([*self._links, priced(report)])
            told = f"link {len(self._links) + 1}: {message}" if self._links else message
            self._heard(whole.planned, told, whole)

        return priced(await investigate(question, self._asked, heard))

    def _last(self, *, ends: str = "", note: str = "", ending: Ending | None = None) -> WhyReport:
        whole = replace(self._whole(self._links), ends=ends)
        if note:
            whole = replace(whole, notes=[*whole.notes, note])
        if ending is not None:
            whole = replace(whole, stopped=ending.text, stopped_by=ending.by)
        self._heard(whole.calls + whole.reused, "stopped" if whole.stopped else "done", whole)
        return whole

    def _whole(self, links: Sequence[WhyReport]) -> WhyReport:
        """The links as one report: that of the decision in question, with the others and the costs of all."""
        first, last, spent = links[0], links[-1], self._asked.spent
        return replace(
            first,
            upstream=list(links[1:]),
            calls=spent.calls,
            reused=spent.reused,
            requests=spent.requests,
            rounds=sum(link.rounds for link in links),
            planned=sum(link.planned for link in links),
            stopped=last.stopped,
            stopped_by=last.stopped_by,
        )


@dataclass(frozen=True, slots=True)
class _Step:
    """What follows from one link."""

    link: WhyReport
    """The link, with the source of its leading cause."""
    above: Inquiry | None = None
    """The question about the reply that wrote that cause."""
    ends: str = ""
    """Why there is none; empty for a link that was ended early, which says so itself."""


def _step(question: Inquiry, link: WhyReport) -> _Step:
    case = question.case
    if not link.finding.claims:
        return _Step(link, ends="" if link.stopped else "No cause was proven here, so the chain goes no further.")
    # A number above those of the leaves stands for the order of the tools.
    leaves = [leaf for leaf in link.finding.claims[0].leaves if leaf < len(case.context.leaves)]
    if not leaves:
        order = case.context.tool_order
        source = Source("tools", order.ref, order.event)
        return _Step(replace(link, source=source), ends="" if link.stopped else _outside(source))
    pieces = [case.context.pieces[case.context.leaves[leaf]] for leaf in leaves]
    authors = [(piece, author_of(case, piece)) for piece in pieces]
    piece, author = next((found for found in authors if found[1] is not None), authors[0])
    source = source_of(case, piece, author)
    link = replace(link, source=source)
    if link.stopped:
        return _Step(link)
    if author is None:
        return _Step(link, ends=_outside(source))
    wrote = f"The reply of event {author.moment.response.id} wrote it"
    try:
        above = _above(question, piece, author)
    except BadInput as error:
        return _Step(replace(link, notes=[*link.notes, str(error)]), ends=f"{wrote}; {_CANNOT}.")
    if judged(above, above.case.reply).verdict != "same":
        return _Step(link, ends=f"{wrote}; {_CANNOT}: it was cut, refused or filtered.")
    return _Step(link, above)


def _above(question: Inquiry, piece: Piece, author: Author) -> Inquiry:
    """Why did the agent write this piece?"""
    taken_up = decision_text(question.case.reply)

    def chosen(call: Opened) -> Decision:
        around = [call.context.pieces[leaf].text for leaf in call.context.leaves]
        return writing(piece.text, substance_of(piece.text, around, taken_up), author.tool)

    # The text is the selection: another text of the same reply gets reruns of its own.
    case = case_at(question.case.trace, author.moment, Selection(author.tool, piece.text), chosen)
    above = replace(question, case=case, suspects=())
    known = tuple(suspect for suspect in question.suspects if _is_known(case, suspect))
    return replace(above, suspects=known, words=piece.text, judge=partial(judged, above))


def judged(question: Inquiry, reply: Reply) -> Outcome:
    """What a reply did, seen from the decision to write a text."""
    return judge_writing(question.case.decision, reply, question.case.earlier)


def _is_known(case: Case, suspect: str) -> bool:
    try:
        find_suspects(case.context, [suspect])
    except BadInput:
        return False
    return True


def _outside(source: Source) -> str:
    match source.kind:
        case "tool":
            return "The text came from outside: a tool returned it."
        case "user":
            return "The text came from outside: it is in a message to the agent."
        case "system":
            return "The text came from outside: it is in the system prompt."
        case "tools":
            return "It came from outside: it is in the list of tools."
        case "agent":
            return "The agent wrote the text, but no recorded reply before this one holds it, so it cannot be rerun."
