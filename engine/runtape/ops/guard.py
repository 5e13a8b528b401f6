"""A check outside the model: a tool call goes through only with an argument that the user wrote, or never by itself."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from .. import canon
from ..errors import BadInput
from ..sample.fingerprint import name_of
from ..sample.shapes import as_dict
from ..stats.tally import Outcome
from ..text import shorten, visible
from ..wire.dialects import dialect_for
from ..wire.values import Json, Reply, Request, Slot, ToolCall

BLOCKED = "is blocked by the guard"


@dataclass(frozen=True, slots=True)
class Guard:
    """Lets a call of `tool` through only when every value in `argument` stands in the user's own messages."""

    tool: str
    argument: str | None = None
    """Name of the argument; None for a gate, which holds every call back until a person lets it through."""

    @property
    def words(self) -> str:
        """What it does, and what to do in the agent's code."""
        if self.argument is None:
            return f"hold every call of {self.tool} back until a person allows it: ask before your code runs the tool"
        return (
            f"let {self.tool} through only when its argument {self.argument} stands in the user's messages: check it "
            "before your code runs the tool"
        )

    def blocks(self, reply: Reply, user_text: str) -> bool:
        """True when the reply calls the tool with a value that the user did not write; for a gate, when it calls it."""
        return any(
            self.argument is None
            # Arguments that cannot be read cannot be checked.
            or not isinstance(call.arguments, dict)
            or not all(_stands_in(value, user_text) for value in _leaves(call.arguments.get(self.argument)))
            for call in reply.tool_calls
            if call.name == self.tool
        )

    def holds_back(self, call: ToolCall, request: Request) -> bool:
        """Whether a call does not go through."""
        return self.blocks(Reply(None, (call,)), user_text(dialect_for(request.api).slots(request.body)))


Check: TypeAlias = Callable[[dict[str, Any], dict[str, Any]], object]
"""Takes a tool call ({"name", "arguments"}) and the request as a model function gets it; True lets the call through."""


@dataclass(frozen=True, slots=True)
class GuardFunction:
    """The user's own check of tool calls."""

    function: Check
    name: str

    @property
    def words(self) -> str:
        """What it is."""
        return f"let your function {self.name} check every tool call before your code runs the tool"

    def holds_back(self, call: ToolCall, request: Request) -> bool:
        """Whether a call does not go through.

        Raises:
            BadInput: the function raises, or returns something else than True or False.
        """
        arguments = call.text if call.arguments is None else canon.loads(canon.dumps(call.arguments))
        try:
            said = self.function({"name": call.name, "arguments": arguments}, as_dict(request))
        except Exception as error:  # noqa: BLE001 - the user's code raises what it likes
            told = visible(shorten(f"{type(error).__name__}: {error}", 300))
            raise BadInput(
                f"The guard function {self.name!r} raised {told}. Return True when a call may go through, False when "
                "it is held back."
            ) from None
        if isinstance(said, bool):
            return not said
        raise BadInput(
            f"The guard function {self.name!r} returned a value of type {type(said).__name__}. "
            "Return True when a call may go through, False when it is held back."
        )


AnyGuard: TypeAlias = Guard | GuardFunction
GuardInput: TypeAlias = "Check | AnyGuard | str | None"
"""A function, `TOOL.ARGUMENT`, or `TOOL` for a gate."""


def guard_of(given: GuardInput) -> AnyGuard | None:
    """The guard that is meant.

    Raises:
        BadInput: it is neither a function nor of one of the two forms.
    """
    match given:
        case None | Guard() | GuardFunction():
            return given
        case str():
            return parse_guard(given)
        case _ if inspect.iscoroutinefunction(given):
            raise BadInput(f"The guard function {name_of(given)!r} is a coroutine. Pass an ordinary function.")
        case _ if callable(given):
            return GuardFunction(given, name_of(given))
        case _:
            raise BadInput(f"guard= is of type {type(given).__name__}. Pass a function, or TOOL.ARGUMENT, or TOOL.")


def let_through(guard: AnyGuard, reply: Reply, request: Request) -> tuple[ToolCall, ...]:
    """The calls of a reply that are not held back; raises as the guard does."""
    return tuple(call for call in reply.tool_calls if not guard.holds_back(call, request))


def behind(
    guard: AnyGuard, reply: Reply, request: Request, outcome: Outcome, judged: Callable[[Reply], Outcome | None]
) -> Outcome:
    """What a reply does where the guard stands between it and the tools; raises as the guard does.

    Args:
        guard: The check.
        reply: The reply, which does `outcome` without it.
        request: What it answers.
        outcome: What it does.
        judged: What another reply does.
    """
    if not outcome.counts:
        return outcome
    calls = let_through(guard, reply, request)
    if len(calls) == len(reply.tool_calls):
        return outcome
    rest = judged(replace(reply, tool_calls=calls)) if calls else None
    if rest is not None and rest.verdict == "same":
        return rest
    return Outcome("stop", f"{outcome.action}, which {BLOCKED}")


def parse_guard(text: str) -> Guard:
    """The guard written as `TOOL.ARGUMENT`, or as `TOOL` for a gate.

    Raises:
        BadInput: a part is missing.
    """
    tool, dot, argument = text.partition(".")
    if not tool or (dot and not argument):
        raise BadInput(f"The guard {text!r} is not TOOL.ARGUMENT, and not TOOL for a gate. Name a tool.")
    return Guard(tool, argument or None)


def user_text(slots: Iterable[Slot]) -> str:
    """Everything the user wrote in a request."""
    return "\n".join(slot.text for slot in slots if slot.kind == "user" and slot.form == "text")


def _leaves(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _leaves(item)
        case dict():
            for item in value.values():
                yield from _leaves(item)
        case None:
            return
        case _:
            yield json.dumps(value)


def _stands_in(value: str, text: str) -> bool:
    words = value.split()
    if not words:
        return True
    pattern = r"\s+".join(map(re.escape, words))
    return re.search(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE) is not None
