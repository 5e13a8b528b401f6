"""Where a text stands in a run, and who brought it in."""

from __future__ import annotations

from ..trace.passages import Passage
from ..trace.search import Found
from ..wire.values import JsonObject
from .document import Bullets, Document, Heading, Line, Paragraph, Recorded, Table
from .phrases import number

_SNIPPET = 240
"""Characters shown around a place."""
_LISTED = 5
"""Places of one text that are given with what stands around them; the others are counted."""


def search_page(trace: str, term: str, found: list[Found], limit: int | None = None) -> Document:
    """Where the text entered the run, then every text that holds it: the first `limit` of them, the rest counted."""
    title = Heading(("Where ", Recorded(term), " stands in ", Recorded(trace)), level=1)
    if not found:
        return (title, Paragraph(("No event of this run holds it.",)))
    first = found[0].passage
    total = sum(len(one.places) for one in found)
    entered: Line = (f"It first entered the run in event {first.event}, written by ", *writer(first), ".")
    left = 0 if limit is None else max(0, len(found) - limit)
    counted = f"{number(total, 'place')} in {number(len(found), 'text')}:"
    return (
        title,
        Paragraph(entered),
        Paragraph((counted,)),
        Table(("event", "places", "written by", "text"), tuple(_row(one) for one in found[:limit])),
        *((Paragraph((f"{number(left, 'more text')} not listed.",)),) if left else ()),
        *((_provenance(first),) if first.call is not None or first.asked is not None else ()),
    )


def search_fields(trace: str, term: str, found: list[Found]) -> JsonObject:
    """The same as one JSON object; `entered` is None when nothing was found."""
    return {
        "trace": trace,
        "term": term,
        "entered": _fields(found[0]) if found else None,
        "found": [_fields(one) for one in found],
    }


def writer(passage: Passage) -> Line:
    """Who wrote a text, in words."""
    tool: Line = (Recorded(passage.tool),) if passage.tool else ("a tool",)
    match passage.writer:
        case "system":
            return ("the author of the system prompt",)
        case "user":
            return ("the user",)
        case "agent" if passage.tool:
            return ("the agent, in a call of ", *tool)
        case "agent":
            return ("the agent",)
        case "tool":
            return ("the tool ", *tool, " as its result")
        case "tools":
            return ("the author of the definition of the tool ", *tool)
        case "program":
            return ("the program around the agent",)


def _provenance(passage: Passage) -> Bullets:
    lines: list[Line] = []
    if passage.call is not None:
        lines.append((f"The call that returned it ran in event {passage.call}.",))
    if passage.asked is not None:
        lines.append((f"The agent asked for that call in event {passage.asked}.",))
    return Bullets(tuple(lines))


def _row(found: Found) -> tuple[Line, ...]:
    around = Recorded(found.places[0].around, limit=_SNIPPET)
    return ((str(found.passage.event),), (str(len(found.places)),), writer(found.passage), (around,))


def _fields(found: Found) -> JsonObject:
    passage = found.passage
    return {
        "event": passage.event,
        "writer": passage.writer,
        "tool": passage.tool,
        "call": passage.call,
        "asked_in": passage.asked,
        "places": len(found.places),
        "around": [place.around for place in found.places[:_LISTED]],
    }
