"""One recorded decision with everything that reruns of it need."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ..context.build import build
from ..context.pieces import Context
from ..decision.actions import earlier_calls
from ..decision.choose import choose
from ..decision.decision import Decision
from ..report.phrases import number
from ..said import Said
from ..trace.chain import whole
from ..trace.lookup import find_trace
from ..trace.refs import Moment, resolve
from ..trace.trace import Trace
from ..wire.values import Reply, Request, ToolCall

_REBUILT = (
    "The call named the response before it (previous_response_id) in place of sending what led to it. "
    "The reruns send what {} of this run held."
)

TraceInput: TypeAlias = "Trace | str | os.PathLike[str]"
EventInput: TypeAlias = "int | str"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which part of the reply is the decision."""

    tool: str | None = None
    match: str | None = None
    exact_args: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    """A recorded model call before it is known which decision of it is meant."""

    request: Request
    reply: Reply
    earlier: tuple[ToolCall, ...]
    """Tool calls that the request already holds."""
    context: Context


@dataclass(frozen=True, slots=True)
class Case:
    """A recorded model call, the decision that it made, and its context in pieces."""

    trace: Trace
    moment: Moment
    selection: Selection
    request: Request
    reply: Reply
    earlier: tuple[ToolCall, ...]
    """Tool calls that the request already holds."""
    decision: Decision
    context: Context
    rebuilt: int = 0
    """Earlier calls of the run whose input and output the request had left to its provider."""

    @property
    def caveats(self) -> list[str]:
        """What the reader has to know about the request and the choice of the decision; empty when there is nothing."""
        notes: list[str] = [Said(_REBUILT.format(number(self.rebuilt, "recorded call")))] if self.rebuilt else []
        if self.decision.tools or self.selection.match is not None:
            return notes
        return [
            *notes,
            Said(
                "Any answer in text counts as this decision, whatever it says. Pass match to name what matters in it."
            ),
        ]


def load_trace(trace: TraceInput) -> Trace:
    """The trace that is meant; see `find_trace`.

    Raises:
        TraceNotFound: there is no such file.
        TraceUnreadable: it holds no readable event.
    """
    return trace if isinstance(trace, Trace) else Trace.load(find_trace(trace))


def open_case(trace: TraceInput, event: EventInput, selection: Selection | None = None) -> Case:
    """The recorded decision at an event.

    Raises:
        TraceNotFound: there is no such trace.
        EventNotFound: the trace has no such event.
        NotADecision: the event belongs to no model reply, or its reply does not make the selected decision.
        BrokenRequest: what the model saw is not all in the trace.
    """
    selection = selection or Selection()
    loaded = load_trace(trace)
    moment = resolve(loaded, event)

    def chosen(call: Opened) -> Decision:
        return choose(
            call.reply,
            tool=selection.tool or moment.tool,
            match=selection.match,
            exact_args=selection.exact_args,
            event=moment.response.id,
            earlier=call.earlier,
        )

    return case_at(loaded, moment, selection, chosen)


def case_at(trace: Trace, moment: Moment, selection: Selection, chosen: Callable[[Opened], Decision]) -> Case:
    """The case of a recorded model call with the decision that is `chosen` from it; raises as `open_case` does."""
    sent, reply = whole(trace, moment), trace.reply(moment.response)
    opened = Opened(sent.request, reply, tuple(earlier_calls(sent.request)), build(sent.request, sent.origins))
    return Case(
        trace, moment, selection, opened.request, reply, opened.earlier, chosen(opened), opened.context, sent.earlier
    )
