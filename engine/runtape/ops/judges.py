"""Who says whether a reply makes a decision that takes more than a look: a model, or a function of the user."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import anyio
import anyio.to_thread

from .. import canon
from ..errors import BadInput
from ..sample.fingerprint import fingerprint, name_of
from ..sample.resolve import named
from ..text import shorten, visible
from ..wire.values import Json, Reply

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


def _as_dict(reply: Reply) -> dict[str, Any]:
    calls = [
        {
            "name": call.name,
            "arguments": call.text if call.arguments is None else canon.loads(canon.dumps(call.arguments)),
        }
        for call in reply.tool_calls
    ]
    return {"text": reply.text, "tool_calls": calls, "stop_reason": reply.stop_reason, "model": reply.model}
