"""What counts as 'the same thing happened'."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..wire.values import Reply, ToolCall


class Matcher(Protocol):
    """One rule for 'the same decision'; frozen, so that two equal rules are one cache entry."""

    def matches(self, reply: Reply) -> bool:
        """True when the reply makes this decision."""
        ...


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision under investigation, chosen from the recorded reply."""

    label: str
    """In words, such as `calls forward_email`; holds names from the trace, so it is recorded text."""
    tools: tuple[str, ...]
    """The tools whose calls together are the decision, in order; empty for text."""
    matcher: Matcher
    calls: tuple[ToolCall, ...] = ()
    """The recorded calls that are the decision."""
    judge: str | None = None
    """Who says whether a reply that `matcher` lets through makes the decision, in words; None when that is enough."""
