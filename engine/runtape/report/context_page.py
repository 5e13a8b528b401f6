"""What a model saw at a decision: each message in its pieces, with their references."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ..context.pieces import Context, Piece
from ..trace.refs import Moment
from ..wire.dialects import dialect_for
from ..wire.values import Json, JsonObject, Parts, Slot
from .document import Block, Bullets, Document, Heading, Line, Paragraph, Quote, Recorded
from .event_text import tool_names
from .phrases import number

_SOURCES = {
    "system": "system prompt",
    "user": "user",
    "assistant": "the agent",
    "tool_result": "tool result",
    "tool_arguments": "the agent's call",
    "tool_definition": "definition",
}
_REF, _PIECE = 600, 20_000
"""Characters shown of a reference and of a piece; a person who asked for the context can page through it."""
_NAME = 60


@dataclass(frozen=True, slots=True)
class Section:
    """One text of the request, as the model read it."""

    slot: Slot
    pieces: tuple[Piece, ...]
    """Its leaves in order; empty for a text that no edit removes."""

    @property
    def event(self) -> int | None:
        """The event that first brought it."""
        return self.pieces[0].event if self.pieces else None

    @property
    def tool(self) -> str | None:
        """The tool that returned it, that it calls, or that it defines."""
        return self.pieces[0].tool if self.pieces else self.slot.tool


def sections(context: Context) -> list[Section]:
    """The texts of a request in context order, each with its smallest pieces."""
    leaves: list[list[Piece]] = [[] for _ in context.slots]
    for index in context.leaves:
        leaves[context.pieces[index].slot].append(context.pieces[index])
    return [Section(slot, tuple(held)) for slot, held in zip(context.slots, leaves, strict=True)]


def source(slot: Slot, tool: str | None) -> Line:
    """Whose text it is, such as `tool result of read_email`."""
    named: Line = (" of ", Recorded(tool, _NAME)) if tool else ()
    return (_SOURCES[slot.kind], *named)


def context_page(trace: str, moment: Moment, context: Context) -> Document:
    """The context as a person reads it."""
    parts = _parts(context)
    request, response = moment.request.id, moment.response.id
    model: Line = ("The model",) if parts.model is None else ("The model ", Recorded(parts.model))
    counted = f" was sent {number(len(parts.messages), 'message')} in {number(len(context.leaves), 'piece')}"
    page: list[Block] = [
        Heading(("Context of ", Recorded(trace), f" at event {response}"), level=1),
        Paragraph((*model, f"{counted} (request {request}). A piece's reference stands before its text.")),
    ]
    for section in sections(context):
        page += [Heading(_title(section)), _text(section)]
    tools = tool_names(parts.tools)
    if tools:
        names = tools if isinstance(tools, list) else [tools]
        page += [
            Heading(("Tools that the model could call",)),
            Bullets(tuple((Recorded(str(name)),) for name in names)),
        ]
    if parts.params:
        page += [Heading(("Parameters",)), Quote(json.dumps(parts.params, ensure_ascii=False, indent=2))]
    if context.not_examined:
        lines = tuple((Recorded(left.ref, _REF), f": {left.reason}") for left in context.not_examined)
        page += [Heading(("What no edit removes",)), Bullets(lines)]
    return tuple(page)


def context_fields(trace: str, moment: Moment, context: Context) -> JsonObject:
    """The same as one JSON object; texts as they stand in the trace."""
    parts = _parts(context)
    return {
        "trace": trace,
        "event": moment.response.id,
        "request": moment.request.id,
        "model": parts.model,
        "messages": [_fields(section) for section in sections(context)],
        "tools": tool_names(parts.tools),
        "parameters": parts.params,
        "not_examined": [{"ref": left.ref, "reason": left.reason} for left in context.not_examined],
    }


def _parts(context: Context) -> Parts:
    return dialect_for(context.request.api).split(context.request.body)


def _title(section: Section) -> Line:
    slot = section.slot
    where = f", message {slot.message}" if slot.message >= 0 else ""
    event = "" if section.event is None else f", event {section.event}"
    return (*source(slot, section.tool), f"{where}{event}")


def _text(section: Section) -> Block:
    if not section.pieces:
        return Quote(section.slot.text, limit=_PIECE)
    return Bullets(tuple((Recorded(piece.ref, _REF), ": ", Recorded(piece.text, _PIECE)) for piece in section.pieces))


def _fields(section: Section) -> JsonObject:
    first = section.pieces[0] if section.pieces else None
    pieces: list[Json] = [{"ref": piece.ref, "text": piece.text} for piece in section.pieces]
    return {
        "index": section.slot.message,
        "kind": section.slot.kind,
        "tool": section.tool,
        "event": section.event,
        "call": first.call if first else None,
        "asked_in": first.writer if first else None,
        "text": section.slot.text,
        "pieces": pieces,
    }
