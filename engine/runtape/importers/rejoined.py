"""Replies of the Claude Agent SDK, of which a tracer makes one generation per content block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ..wire.bodies import listed
from ..wire.reading import members
from .span import SpanCall

PART: Final = "a further block of the reply before it"
_TURN: Final = "claude.assistant.turn"
"""What LangSmith's tracing of the SDK calls each."""


def rejoined(calls: Sequence[SpanCall], tools: Sequence[float | None]) -> tuple[list[SpanCall], list[SpanCall]]:
    """The calls with their replies whole, and those that were parts of them.

    Blocks that follow one another below one parent are one reply until a tool has run: `tools` are those starts.
    """
    whole: list[SpanCall] = []
    parts: list[SpanCall] = []
    ran = [start for start in tools if start is not None]
    for call in sorted(calls, key=lambda call: call.span.started or 0.0):
        last = next((one for one in reversed(whole) if one.span.parent == call.span.parent), None)
        if last is None or not is_turn(last) or not is_turn(call) or _between(last, call, ran):
            whole.append(call)
            continue
        content = [*listed(members(last.call.reply).get("content")), *listed(members(call.call.reply).get("content"))]
        reply = {**members(last.call.reply), **members(call.call.reply), "content": content}
        whole[whole.index(last)] = replace(last, call=replace(last.call, reply=reply))
        parts.append(call)
    return whole, parts


def is_turn(call: SpanCall) -> bool:
    """True for a block of a reply of the SDK's."""
    return call.span.name == _TURN and isinstance(members(call.call.reply).get("content"), list)


def _between(one: SpanCall, other: SpanCall, ran: list[float]) -> bool:
    start, end = one.span.started, other.span.started
    return start is None or end is None or any(start < at <= end for at in ran)
