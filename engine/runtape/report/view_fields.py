"""The context of a decision with what became of each piece, as data for the pages in `report.view`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..context.pieces import Context
from ..text import shorten
from ..wire.values import Json, JsonObject
from .context_page import Section, sections, source
from .document import Line, Recorded
from .fields import Show, why_fields
from .results import WhyReport
from .why_page import answer

PIECE = 4_000
"""Characters of one piece."""
ROOM = 200_000
"""Characters of all pieces together."""
UNTRIED = "untried"
PLAIN = "plain"
"""State of every piece where there is no report."""

_KEPT = ("decision", "base", "causes", "calls", "notes", "event")
_AS_RECORDED = Show()


@dataclass(frozen=True, slots=True)
class Known:
    """What a report says of its pieces, by reference."""

    states: Mapping[str, str]
    causes: Mapping[str, int]
    probabilities: Mapping[str, float]
    otherwise: str = UNTRIED
    """State of a piece that it does not name."""


NOTHING_KNOWN = Known({}, {}, {}, PLAIN)


@dataclass(frozen=True, slots=True)
class Drawn:
    """The texts of a context, ready for the page."""

    messages: list[Json]
    """In context order, each with `source`, `event`, its `pieces` and what stands `after` them. A piece has `ref`,
    `text`, what stands `before` it, `state`, the index of its `cause`, its `probability`."""
    cut: int
    """Characters that were left out."""


def view_fields(report: WhyReport, context: Context, show: Show = _AS_RECORDED) -> JsonObject:
    """What the page draws of a report.

    Args:
        report: What is known, finished or not.
        context: The context that was searched.
        show: How recorded text appears.

    Returns:
        Fields of `why_fields`, and `answer`, the result in one sentence; `messages` and `cut` of `Drawn`.
    """
    fields = why_fields(report, show)
    drawn = draw(context, known_of(report), show)
    return {
        **{name: fields[name] for name in _KEPT},
        "answer": _said(answer(report), show),
        "messages": drawn.messages,
        "cut": drawn.cut,
    }


def known_of(report: WhyReport) -> Known:
    """What a report says of its pieces."""
    causes = [(ref, index) for index, cause in enumerate(report.causes) for ref in cause.refs]
    shares = {ref: share for ref, _, share in report.suspects}
    return Known(dict(report.pieces), dict(reversed(causes)), shares)


def draw(context: Context, known: Known, show: Show) -> Drawn:
    """The texts of a context, at most `ROOM` characters of them."""
    drawing = _Drawing(known, show)
    messages: list[Json] = [drawing.message(section) for section in sections(context)]
    return Drawn(messages, drawing.cut)


class _Drawing:
    """The messages of one page, and the room that is left on it."""

    def __init__(self, known: Known, show: Show) -> None:
        self._known = known
        self._show = show
        self._room = ROOM
        self.cut = 0

    def message(self, section: Section) -> JsonObject:
        """One text of the request."""
        slot = section.slot
        pieces: list[Json] = []
        end = 0
        for leaf in section.pieces:
            pieces.append(self._piece(leaf.ref, leaf.text, slot.text[end : leaf.start]))
            end = leaf.end
        if not section.pieces:
            pieces.append(self._piece("", slot.text, ""))
        return {
            "source": _said(source(slot, section.tool), self._show),
            "event": section.event,
            "pieces": pieces,
            "after": self._between(slot.text[end:]) if section.pieces else "",
        }

    def _piece(self, ref: str, text: str, before: str) -> JsonObject:
        return {
            "ref": self._show.ref(ref) if ref else "",
            "text": self._passage(text),
            "before": self._between(before),
            "state": self._known.states.get(ref, self._known.otherwise),
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


def _said(line: Line, show: Show) -> str:
    return "".join(show.name(part.text) if isinstance(part, Recorded) else part for part in line)
