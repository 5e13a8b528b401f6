"""Decisions that take more than a look at the reply: what their judge said about each reply."""

from __future__ import annotations

from collections.abc import Sequence

from .. import canon
from ..decision.actions import is_for_the_judge, judge
from ..errors import NotADecision
from ..sample.asks import Ask
from ..sample.judge_prompt import judge_request, verdict_in
from ..stats.tally import Outcome
from ..text import shorten, visible
from ..wire.values import Json, Reply
from .asking import Asked
from .case import Case
from .judges import JudgeFunction, JudgeModel

JUDGE = "judge"
"""Series of the verdicts. Each is asked for once: the request is another one for every reply."""
_NOT_JUDGED = Outcome("unjudged", "was not judged")


class Judging:
    """Says what replies did, for one decision; asks its judge about those that take one."""

    def __init__(self, case: Case, asked: Asked) -> None:
        self._case = case
        self._asked = asked
        self._rulings: dict[str, bool | None] = {}

    def outcome(self, reply: Reply) -> Outcome | None:
        """What a reply did; None as long as the judge has not been asked about it."""
        case = self._case
        if not is_for_the_judge(case.decision, reply):
            return judge(case.decision, reply, case.earlier)
        key = _key(reply)
        return judge(case.decision, reply, case.earlier, ruling=self._rulings[key]) if key in self._rulings else None

    def settled(self, reply: Reply) -> Outcome:
        """What a reply did; one that the judge was never asked about counts as no sample."""
        return self.outcome(reply) or _NOT_JUDGED

    async def learn(self, replies: Sequence[Reply]) -> None:
        """Ask the judge about the replies that it has not seen yet.

        Raises:
            BudgetSpent: the verdicts do not fit the budget.
            ModelFailed: the model cannot answer.
            BadInput: the user's function is at fault.
        """
        waiting = {_key(reply): reply for reply in replies if self.outcome(reply) is None}
        match self._case.selection.judge:
            case JudgeFunction() as function:
                for key, reply in waiting.items():
                    self._rulings[key] = await function.rule(reply)
            case JudgeModel(text):
                self._rulings |= await self._asked_model(text, waiting)
            case None:
                pass

    async def need_recorded(self) -> None:
        """Make sure that the recorded reply makes the decision.

        Raises:
            NotADecision: the judge says that it does not.
        """
        recorded = self._case.reply
        await self.learn([recorded])
        if self.settled(recorded).verdict != "same":
            said = "no" if self.settled(recorded).verdict in ("other", "stop") else "neither yes nor no"
            raise NotADecision(
                f"The reply of event {self._case.moment.response.id} does not make this decision: {self._name} says "
                f"{said}. It reads: {shorten(visible(self._case.reply.text or ''), 200)!r}. "
                "Ask a question that the recorded reply answers with yes."
            )

    @property
    def _name(self) -> str:
        chosen = self._case.selection.judge
        return chosen.name if chosen else "nobody"

    async def _asked_model(self, question: str, waiting: dict[str, Reply]) -> dict[str, bool | None]:
        recorded = self._case.request
        sampler = self._asked.judging_sampler(recorded)
        rulings: dict[str, bool | None] = {}
        for temperature in (True, False):
            asks = [
                Ask(judge_request(recorded, question, reply, temperature=temperature), JUDGE, 1)
                for reply in waiting.values()
            ]
            drawn = await sampler.draw(asks)
            answers = dict(zip(waiting, drawn, strict=True))
            rulings |= {key: verdict_in(got.answers[-1].reply) for key, got in answers.items() if got.answers}
            waiting = {key: reply for key, reply in waiting.items() if answers[key].broken is not None}
            if not waiting:
                break
        for key in waiting:
            rulings[key] = None
        return rulings


def _key(reply: Reply) -> str:
    calls: list[Json] = [[call.name, call.text] for call in reply.tool_calls]
    return canon.digest([reply.text, calls])
