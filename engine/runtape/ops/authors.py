"""Where a text of a context came from: which recorded reply wrote it, or which call fetched it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..context.pieces import Piece
from ..context.tokens import is_specific, tokens
from ..decision.wording import values
from ..errors import NotADecision, RuntapeError
from ..report.results import Fetch, Source
from ..trace.refs import Moment, resolve
from ..wire.values import Reply, ToolCall
from .case import Case

_FEWEST_WORDS = 4
"""Distinct words from which a text is not written twice by chance. Fewer of them, if one is an address or the like."""


@dataclass(frozen=True, slots=True)
class Author:
    """The recorded reply that wrote a text."""

    moment: Moment
    tool: str | None
    """The tool in whose arguments it wrote it; None for its text."""


def author_of(case: Case, piece: Piece) -> Author | None:
    """The recorded reply that wrote a piece of this decision's context; None when none did.

    Text of the agent and arguments of its calls are looked for in all earlier replies, the latest first. What a tool
    returned counts as written by the agent when the agent had handed that text to a tool before (a note that it reads
    again), and what a user or system message says when an earlier reply said it (a task that one agent gives another).
    The texts have to be equal up to white space and letter case; a link to a reply is a fact of the trace, no guess
    from likeness.

    The reply always stands before the request of this decision, so that going from author to author ends.
    """
    wanted = _plain(piece.text)
    if not wanted or (piece.role not in ("assistant", "tool_arguments") and not _is_distinctive(piece.text)):
        return None
    before = case.moment.request.id if piece.event is None else min(case.moment.request.id, piece.event + 1)
    slot = case.context.slots[piece.slot]
    for call in sorted(case.trace.calls, key=lambda call: -call.request.id):
        response = call.response
        if response is None or not call.request.id < response.id < before:
            continue
        try:
            reply = case.trace.reply(response)
        except NotADecision:
            continue
        moment = Moment(call.request, response, None, None)
        if piece.role in ("assistant", "user", "system") and wanted in _plain(reply.text or ""):
            return Author(moment, None)
        if piece.role == "assistant":
            continue
        for asked in _calls(reply, slot.call_id if piece.role == "tool_arguments" else None):
            if any(wanted in _plain(value) for value in (asked.text, *values(asked.arguments, asked.text))):
                return Author(moment, asked.name)
    return None


def source_of(case: Case, piece: Piece, author: Author | None) -> Source:
    """Where a piece came from, for a report."""
    fetch = fetch_of(case, piece) if piece.role == "tool_result" else None
    if author is not None:
        return Source("agent", piece.ref, author.moment.response.id, author.tool, fetch)
    match piece.role:
        case "tool_result":
            return Source("tool", piece.ref, piece.event, piece.tool, fetch)
        case "assistant" | "tool_arguments":
            return Source("agent", piece.ref, None, piece.tool)
        case "tool_definition":
            return Source("tools", piece.ref, piece.event, piece.tool)
        case role:
            return Source(role, piece.ref, piece.event)


def fetch_of(case: Case, piece: Piece) -> Fetch:
    """The call whose result a piece is, as far as the trace tells."""
    call_id = case.context.slots[piece.slot].call_id
    asked = next((call for call in case.earlier if call_id is not None and call.id == call_id), None)
    tool = piece.tool or (asked.name if asked else None)
    arguments = asked.text if asked else None
    try:
        run = resolve(case.trace, piece.event) if piece.event is not None else None
    except RuntapeError:
        run = None  # a result that no recorded call led to
    if run is not None and run.tool_call is not None:
        return Fetch(tool or run.tool, arguments, run.tool_call.id, run.response.id)
    return Fetch(tool, arguments, None, _asking(case, call_id, tool, piece.event))


def _asking(case: Case, call_id: str | None, tool: str | None, before: int | None) -> int | None:
    """The last reply that asked for a call, by its id."""
    limit = case.moment.request.id if before is None else before
    for call in sorted(case.trace.calls, key=lambda call: -call.request.id):
        if call.response is None or call.response.id >= limit or call_id is None:
            continue
        try:
            reply = case.trace.reply(call.response)
        except NotADecision:
            continue
        if any(asked.id == call_id and tool in (None, asked.name) for asked in reply.tool_calls):
            return call.response.id
    return None


def _calls(reply: Reply, call_id: str | None) -> Iterator[ToolCall]:
    """The calls of a reply; only the one with that id where one has it."""
    same = [call for call in reply.tool_calls if call_id is not None and call.id == call_id]
    yield from same or reply.tool_calls


def _is_distinctive(text: str) -> bool:
    words = tokens(text)
    return len(words) >= _FEWEST_WORDS or any(is_specific(word) and len(word) > _FEWEST_WORDS for word in words)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
