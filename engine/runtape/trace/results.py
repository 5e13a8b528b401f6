"""Which recorded tool run each tool result in a request came from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .. import canon
from ..wire.values import Json
from .calls import tool_of
from .events import Event

_LONGEST_COMPARED = 1_000_000


@dataclass(frozen=True, slots=True)
class Ran:
    """One `tool_result` event."""

    event: int
    tool: str | None
    call_id: str | None
    value: Json
    """What the tool returned, as recorded."""
    call: int | None = None
    """Its `tool_call` event."""
    requested_by: int | None = None
    """The reply that asked for it, where the recorder knew."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """One tool result in a message of a request."""

    message: int
    block: int | None
    """Its content block, in a message that holds several results; None for a message with one."""
    call_id: str | None
    tool: str | None
    """The tool of the call that it answers, where the request tells."""
    text: str
    after: int
    """The last request of this conversation without the message; -1 when there is none."""
    before: int
    """The first request with it."""


def tool_runs(events: Iterable[Event]) -> list[Ran]:
    """The recorded tool results, in order."""
    runs: dict[int, Event] = {}
    found: list[Ran] = []
    for event in events:
        if event.type == "tool_call":
            runs[event.id] = event
        elif event.type == "tool_result":
            run = runs.get(event.parent) if event.parent is not None else None
            ids = [source.payload.get("call_id") for source in (event, run) if source is not None]
            call_id = next((given for given in ids if isinstance(given, str) and given), None)
            name = tool_of(event) or (tool_of(run) if run is not None else None)
            asking = run.meta.get("requested_by") if run is not None else None
            found.append(
                Ran(
                    event.id,
                    name,
                    call_id,
                    event.payload.get("result"),
                    run.id if run is not None else None,
                    asking if isinstance(asking, int) else None,
                )
            )
    return found


def link(answers: Sequence[ToolResult], ran: Sequence[Ran]) -> dict[ToolResult, Ran]:
    """The tool run of each answer that has one; no run is used twice.

    Ids may be missing, or repeated in one run, so an equal content counts before order.
    """
    left = {run.event: run for run in ran}
    linked: dict[ToolResult, Ran] = {}
    for fits in (_same_call_and_content, _same_call, _same_content, _in_its_turn):
        for answer in answers:
            if answer not in linked:
                run = next((run for run in left.values() if fits(answer, run)), None)
                if run is not None:
                    linked[answer] = left.pop(run.event)
    return linked


def _same_call_and_content(answer: ToolResult, run: Ran) -> bool:
    return _same_call(answer, run) and _spells(answer.text, run.value)


def _same_call(answer: ToolResult, run: Ran) -> bool:
    return answer.call_id is not None and answer.call_id == run.call_id and _same_tool(answer, run)


def _same_content(answer: ToolResult, run: Ran) -> bool:
    return _free(answer, run) and _spells(answer.text, run.value)


def _in_its_turn(answer: ToolResult, run: Ran) -> bool:
    return _free(answer, run) and answer.tool is not None and answer.after < run.event < answer.before


def _free(answer: ToolResult, run: Ran) -> bool:
    return _same_tool(answer, run) and (answer.call_id is None or run.call_id is None)


def _same_tool(answer: ToolResult, run: Ran) -> bool:
    return answer.tool is None or run.tool is None or answer.tool == run.tool


def _spells(text: str, value: Json) -> bool:
    """True when a program would turn `value` into `text`: as it is, as JSON or as Python prints it."""
    if isinstance(value, str):
        return text == value
    if len(text) > _LONGEST_COMPARED:
        return False
    try:
        return canon.loads(text) == value
    except ValueError:
        return text == str(value)
