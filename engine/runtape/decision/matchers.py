"""The rules for 'the same decision'."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .. import canon
from ..wire.values import Json, Reply, ToolCall
from .canonical import canonical, canonical_value
from .condition import Condition
from .paths import ABSENT, Path
from .pattern import Pattern, is_found


@dataclass(frozen=True, slots=True)
class CallsTools:
    """The reply calls every one of some tools."""

    tools: frozenset[str]
    pattern: Pattern | None = None
    """Must be found too: in the arguments of one of these calls, or in the reply's text."""
    in_text: bool = False
    """Where `pattern` is searched: the text instead of the arguments."""
    calls: frozenset[str] | None = None
    """What `form` makes of the calls that must all be made again; None when the arguments do not matter."""
    args: tuple[Path, ...] | None = None
    """The arguments that matter in `calls`; None for all."""
    where: Condition | None = None
    """Must hold for a call of each of the tools, and for those in `calls`."""
    readable: bool = True
    """The recorded arguments are JSON, so that others that are not cannot be compared with them."""

    def matches(self, reply: Reply) -> bool:
        """True when the reply makes this decision."""
        made = [call for call in reply.tool_calls if self.where is None or fulfils(self.where, call)]
        if not self.tools <= {call.name for call in made}:
            return False
        if self.calls is not None and not self.calls <= {form(call, self.args) for call in made}:
            return False
        if self.pattern is None:
            return True
        if self.in_text:
            return is_found(self.pattern, reply.text)
        return any(found_in_arguments(self.pattern, call) for call in made if call.name in self.tools)

    @property
    def about_arguments(self) -> bool:
        """Whether more than the names of the tools counts."""
        return self.calls is not None or self.where is not None or (self.pattern is not None and not self.in_text)


@dataclass(frozen=True, slots=True)
class Says:
    """The reply's text holds a pattern, whatever it calls."""

    pattern: Pattern

    def matches(self, reply: Reply) -> bool:
        """True when the reply makes this decision."""
        return is_found(self.pattern, reply.text)


@dataclass(frozen=True, slots=True)
class AnswersInText:
    """The reply has text and calls no tool."""

    def matches(self, reply: Reply) -> bool:
        """True when the reply makes this decision."""
        return not reply.tool_calls and bool(reply.text and reply.text.strip())


@dataclass(frozen=True, slots=True)
class Anything:
    """Any reply: whether it makes the decision is for a judge to say."""

    def matches(self, reply: Reply) -> bool:
        """True when there is a text or a call to judge."""
        return bool(reply.tool_calls or (reply.text and reply.text.strip()))


def found_in_arguments(pattern: Pattern, call: ToolCall) -> bool:
    """True when the pattern is in the arguments, as they were sent or with their JSON escapes resolved."""
    if is_found(pattern, call.text):
        return True
    return "\\" in call.text and is_found(pattern, canon.dumps(call.arguments).decode())


def arguments_of(call: ToolCall) -> Json:
    """The arguments of a call; blank ones are none at all."""
    return call.arguments if call.text.strip() else {}


def fulfils(where: Condition, call: ToolCall) -> bool:
    """True when the arguments are JSON for which the condition holds."""
    return (call.arguments is not None or not call.text.strip()) and where.holds(arguments_of(call))


def form(call: ToolCall, args: Iterable[Path] | None) -> str:
    """What counts of a call as one text: its tool with the values at some paths, or with all of its arguments."""
    if args is None:
        return canonical(call)
    found = [path.find(arguments_of(call)) for path in args]
    values: list[Json] = [[] if value is ABSENT else [value] for value in found]
    return f"{call.name} {canonical_value(values)}"
