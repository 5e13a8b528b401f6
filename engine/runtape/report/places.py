"""Where a piece of a context stands, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..wire.values import SlotKind
from .document import Line, Recorded

Role: TypeAlias = "SlotKind | Literal['tool_order']"


@dataclass(frozen=True, slots=True)
class Place:
    """What part of a request a piece belongs to."""

    role: Role
    tool: str | None = None
    """The tool that returned it, whose argument it is, or that it describes."""
    parameter: str | None = None
    """The argument of the call, or the parameter that is described."""
    whole: bool = False
    """True for an image, a file or reasoning, which has no sentences."""


def in_words(place: Place) -> Line:
    """Such as `the description of the tool delete_volume`; names are recorded words."""
    tool: Line = (Recorded(place.tool),) if place.tool else ("a tool",)
    what = "this part" if place.whole and place.role != "tool_arguments" else "this text"
    match place.role:
        case "tool_result":
            return (what, ", which ", *tool, " returned")
        case "tool_arguments" if place.parameter:
            return ("the argument ", Recorded(place.parameter), " of an earlier call of ", *tool)
        case "tool_arguments":
            return ("what an earlier call of ", *tool, " was given")
        case "tool_definition" if place.parameter:
            return ("the description of the parameter ", Recorded(place.parameter), " of the tool ", *tool)
        case "tool_definition":
            return ("the description of the tool ", *tool)
        case "tool_order":
            return ("the order in which the tools are offered",)
        case "assistant":
            return (what, ", which the agent wrote itself")
        case "system":
            return (what, " in the system prompt")
        case "user":
            return (what, " of the user")
