"""A recorded decision as a problem for the search."""

from __future__ import annotations

from ..canon import digest
from ..context.duplicates import near_duplicates
from ..context.suspicion import suspicion
from ..search.problem import Problem
from ..wire.values import Json, Slot
from .case import Case


def problem_of(case: Case, suspects: frozenset[int], words: str) -> Problem:
    """What a search has to know of a decision.

    Args:
        case: The decision.
        suspects: Positions in `case.context.leaves`.
        words: What was decided, in words.
    """
    context = case.context
    pieces = [context.pieces[leaf] for leaf in context.leaves]
    return Problem(
        leaves=len(pieces),
        pinned=frozenset(at for at, piece in enumerate(pieces) if piece.pinned),
        scores=tuple(suspicion(context, words)),
        message_of=tuple(_message_of(context.slots[piece.slot], len(context.slots)) for piece in pieces),
        forced=_forces_a_call(case.request.body.get("tool_choice")),
        seed=int(digest(case.request.body)[:8], 16),
        groups=near_duplicates(context),
        suspects=suspects,
        reorderings=len(context.tool_order.others),
    )


def _message_of(slot: Slot, slots: int) -> int:
    """Where pools may be cut: at the border of a message, or of a tool, which all stand behind the messages."""
    return slots + slot.block if slot.kind == "tool_definition" else slot.message


def _forces_a_call(choice: Json) -> bool:
    """Whether the API makes the model call a tool: `required`, `any`, or one that is named."""
    match choice:
        case None | "auto" | "none" | {"type": "auto" | "none"} | {"mode": "auto"}:
            return False
        case _:
            return True
