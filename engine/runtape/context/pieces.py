"""The context of one model call as a tree of removable pieces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..wire.values import Request, Slot, SlotKind
from .spans import Tree
from .tool_order import NO_ORDER, ToolOrder

PLACEHOLDER = "[removed]"
"""Stands in a text that would be blank; providers refuse empty content."""

PieceKind = Literal["message", "item", "paragraph", "sentence"]
"""A message or tool result; a JSON member or element; a block of text; the smallest unit of text."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A span of one text slot."""

    ref: str
    """Stable name such as `9[1]/s2`: origin event, message, path below it."""
    kind: PieceKind
    slot: int
    """Index into `Context.slots`."""
    start: int
    end: int
    """Character span in the slot's text."""
    text: str
    """What it says, with the escapes of a JSON string resolved; an inner piece's text is as it stands in the slot."""
    parent: int | None
    """Index into `Context.pieces`; None for a message."""
    children: tuple[int, ...]
    """Indexes into `Context.pieces`; empty for a leaf."""
    role: SlotKind
    event: int | None
    """The event that first brought this text into the run."""
    tool: str | None
    """The tool that returned it, whose argument it is, or that it describes."""
    pinned: bool
    """True for the system prompt, the user's first task and the tools: held in place until the headline is proven."""
    parameter: str | None = None
    """The argument of the call that it is part of, or the parameter that it describes, such as `filter.path`."""
    call: int | None = None
    """For a tool result, the `tool_call` event that fetched it; None where no run was recorded."""
    writer: int | None = None
    """The `llm_response` that wrote it, or that asked for the call which a tool result answers."""


@dataclass(frozen=True, slots=True)
class NotExamined:
    """A part of the request that no edit removes."""

    ref: str
    reason: str


@dataclass(frozen=True, slots=True)
class Context:
    """A request and its pieces, in context order."""

    request: Request
    slots: tuple[Slot, ...]
    pieces: tuple[Piece, ...]
    leaves: tuple[int, ...]
    """Indexes into `pieces` of the pieces without children; what the search removes."""
    not_examined: tuple[NotExamined, ...]
    trees: tuple[Tree, ...] = ()
    """How the text of each slot falls apart, one per slot; a slot that is not examined has no spans."""
    first_leaf: tuple[int, ...] = ()
    """Position in `leaves` of each slot's first leaf, one per slot."""
    tool_order: ToolOrder = NO_ORDER
    """The order of the tools; a variant names other order k by the number `len(leaves) + k`."""
