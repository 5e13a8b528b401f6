"""The rules for 'the same decision'."""

from __future__ import annotations

from dataclasses import dataclass

from .. import canon
from ..wire.values import Reply, ToolCall
from .canonical import canonical
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
    """Canonical forms of calls that must all be made again; None when the arguments do not matter."""

    def matches(self, reply: Reply) -> bool:
        """True when the reply makes this decision."""
        if not self.tools <= {call.name for call in reply.tool_calls}:
            return False
        if self.calls is not None and not self.calls <= {canonical(call) for call in reply.tool_calls}:
            return False
        if self.pattern is None:
            return True
        if self.in_text:
            return is_found(self.pattern, reply.text)
        return any(found_in_arguments(self.pattern, call) for call in reply.tool_calls if call.name in self.tools)


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


def found_in_arguments(pattern: Pattern, call: ToolCall) -> bool:
    """True when the pattern is in the arguments, as they were sent or with their JSON escapes resolved."""
    if is_found(pattern, call.text):
        return True
    return "\\" in call.text and is_found(pattern, canon.dumps(call.arguments).decode())
