"""Decisions that take more than a look at the reply: a question to a model, or a function of the user."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
import anyio.to_thread

from .. import canon
from ..decision.actions import is_for_the_judge, judge
from ..errors import BadInput, NotADecision
from ..sample.asks import Ask
from ..sample.fingerprint import fingerprint, name_of
from ..sample.judge_prompt import judge_request, verdict_in
from ..sample.resolve import named
from ..stats.tally import Outcome
from ..text import shorten, visible
from ..wire.values import Json, Reply

if TYPE_CHECKING:
    from .asking import Asked
    from .case import Case

JUDGE = "judge"
"""Series of the verdicts. Each is asked for once: the request is another one for every reply."""
_NOT_JUDGED = Outcome("unjudged", "was not judged")
_SPEC = re.compile(r"(?:\S.*\.py|[\w.]+):[^\W\d]\w*")
_SHOWN, _LONGEST = 60, 2000


@dataclass(frozen=True, slots=True)
class JudgeModel:
    """A question about a reply, to be answered with yes or no by the model of the reruns."""

    text: str

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise BadInput("The question for the judge is empty. Ask one that yes or no answers.")
        if len(self.text) > _LONGEST:
            raise BadInput(
                f"The question for the judge has {len(self.text)} characters. Ask one of at most {_LONGEST}."
            )

    @property
    def name(self) -> str:
        """The judge in words."""
        return f"a model asked {shorten(self.text, _SHOWN)!r}"

    @property
    def identity(self) -> Json:
        """Equal for judges that judge alike."""
        return ["question", self.text]


@dataclass(frozen=True, slots=True)
class JudgeFunction:
    """A function that says whether a reply makes the decision: True, False, or None for neither."""

    function: Callable[[dict[str, Any]], object]
    name: str
    identity: Json
    spec: str | None = None
    """How it was named, as `module:function` or `file.py:function`; None for one that was handed in."""

    async def rule(self, reply: Reply) -> bool | None:
        """What the function says.

        Raises:
            BadInput: it raises, or returns something else.
        """
        given = _as_dict(reply)
        try:
            if inspect.iscoroutinefunction(self.function):
                said: object = await self.function(given)
            else:
                said = await anyio.to_thread.run_sync(self.function, given, limiter=anyio.CapacityLimiter(1))
        except Exception as error:  # noqa: BLE001 - the user's code raises what it likes
            told = visible(shorten(f"{type(error).__name__}: {error}", 300))
            raise BadInput(f"The judge function {self.name!r} raised {told}. Mend it, then ask again.") from None
        if said is None or isinstance(said, bool):
            return said
        raise BadInput(
            f"The judge function {self.name!r} returned a value of type {type(said).__name__}. "
            "Return True, False, or None for a reply that is neither."
        )


Judge: TypeAlias = "JudgeModel | JudgeFunction"
JudgeInput: TypeAlias = "Callable[[dict[str, Any]], object] | Judge | str | None"
"""A function, `module:function` or `file.py:function`, or any other text: a question for a model."""


def judge_of(given: JudgeInput) -> Judge | None:
    """The judge that is meant.

    Raises:
        BadInput: a function cannot be loaded, or a question is empty.
    """
    match given:
        case None | JudgeModel() | JudgeFunction():
            return given
        case str() if _SPEC.fullmatch(given):
            return judge_function(given)
        case str():
            return JudgeModel(given)
        case _ if callable(given):
            made = fingerprint(given)
            return JudgeFunction(given, name_of(given), ["function", name_of(given), made.text])
        case _:
            raise BadInput(f"judge= is of type {type(given).__name__}. Pass a function, its name or a question.")


def judge_function(spec: str) -> JudgeFunction:
    """The function that `module:function` or `file.py:function` names; its code is imported.

    Raises:
        BadModel: there is no such function.
        BadInput: it is no function.
    """
    found = named(spec, "judge")
    function = found.value
    if not callable(function):
        raise BadInput(f"{spec!r} is of type {type(function).__name__}, not a function that judges replies.")
    return JudgeFunction(function, spec, ["function", spec, fingerprint(function, found.module).text], spec)


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


def _as_dict(reply: Reply) -> dict[str, Any]:
    calls = [
        {
            "name": call.name,
            "arguments": call.text if call.arguments is None else canon.loads(canon.dumps(call.arguments)),
        }
        for call in reply.tool_calls
    ]
    return {"text": reply.text, "tool_calls": calls, "stop_reason": reply.stop_reason, "model": reply.model}
