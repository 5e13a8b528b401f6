"""The context of a decision with what became of each piece, as data for the page in `report.view`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..context.pieces import Context
from ..text import shorten
from ..wire.values import Json, JsonObject, Slot
from .document import Line, Recorded
from .fields import Show, why_fields
from .results import WhyReport
from .why_page import answer

PIECE = 4_000
"""Characters of one piece."""
ROOM = 200_000
"""Characters of all pieces together."""
UNTRIED = "untried"

_KEPT = ("decision", "base", "causes", "calls", "notes", "event")
_SOURCES = {"system": "system prompt", "user": "user", "assistant": "the agent", "tool_result": "tool result"}
_AS_RECORDED = Show()


def view_fields(report: WhyReport, context: Context, show: Show = _AS_RECORDED) -> JsonObject:
    """What the page draws.

    Args:
        report: What is known, finished or not.
        context: The context that was searched.
        show: How recorded text appears.

    Returns:
        Fields of `why_fields`, and `answer`, the result in one sentence; `messages`, in context order, each with
        `source`, `event`, its `pieces` and what stands `after` them; `cut`, characters that were left out. A piece has
        `ref`, `text`, what stands `before` it, `state`, the index of its `cause`, its `probability`.
    """
    fields = why_fields(report, show)
    drawing = _Drawing(report, show)
    messages: list[Json] = [drawing.message(context, index) for index in range(len(context.slots))]
    return {
        **{name: fields[name] for name in _KEPT},
        "answer": _said(answer(report), show),
        "messages": messages,
        "cut": drawing.cut,
    }


@dataclass(slots=True)
class _Known:
    """What the report says of its pieces, by reference."""

    states: Mapping[str, str]
    causes: Mapping[str, int]
    probabilities: Mapping[str, float]


class _Drawing:
    """The messages of one page, and the room that is left on it."""

    def __init__(self, report: WhyReport, show: Show) -> None:
        causes = [(ref, index) for index, cause in enumerate(report.causes) for ref in cause.refs]
        self._known = _Known(
            dict(report.pieces), dict(reversed(causes)), {ref: share for ref, _, share in report.suspects}
        )
        self._show = show
        self._room = ROOM
        self.cut = 0

    def message(self, context: Context, index: int) -> JsonObject:
        """One text of the request."""
        slot = context.slots[index]
        leaves = [context.pieces[leaf] for leaf in context.leaves if context.pieces[leaf].slot == index]
        pieces: list[Json] = []
        end = 0
        for leaf in leaves:
            pieces.append(self._piece(leaf.ref, leaf.text, slot.text[end : leaf.start]))
            end = leaf.end
        if not leaves:
            pieces.append(self._piece("", slot.text, ""))
        event = leaves[0].event if leaves else None
        return {
            "source": self._source(slot, leaves[0].tool if leaves else slot.tool),
            "event": event,
            "pieces": pieces,
            "after": self._between(slot.text[end:]) if leaves else "",
        }

    def _piece(self, ref: str, text: str, before: str) -> JsonObject:
        return {
            "ref": self._show.ref(ref) if ref else "",
            "text": self._passage(text),
            "before": self._between(before),
            "state": self._known.states.get(ref, UNTRIED),
            "cause": self._known.causes.get(ref),
            "probability": self._known.probabilities.get(ref),
        }

    def _between(self, text: str) -> str:
        return self._passage(text) if text.strip(" \n\t") else text

    def _passage(self, text: str) -> str:
        shown = shorten(text, min(PIECE, self._room)) if self._room > 0 else ""
        self._room -= len(shown)
        self.cut += max(0, len(text) - len(shown))
        return self._show.passage(shown) if shown else ""

    def _source(self, slot: Slot, tool: str | None) -> str:
        source = _SOURCES.get(slot.kind, slot.kind.replace("_", " "))
        return f"{source} of {self._show.name(tool)}" if tool else source


def _said(line: Line, show: Show) -> str:
    return "".join(show.name(part.text) if isinstance(part, Recorded) else part for part in line)
