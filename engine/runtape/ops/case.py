"""One recorded decision with everything that reruns of it need."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ..context.build import build
from ..context.pieces import Context
from ..decision.actions import earlier_calls
from ..decision.choose import choose
from ..decision.decision import Decision
from ..trace.origins import origins
from ..trace.refs import Moment, resolve
from ..trace.store import Store
from ..trace.trace import Trace
from ..wire.values import Reply, Request, ToolCall

TraceInput: TypeAlias = "Trace | str | os.PathLike[str]"
EventInput: TypeAlias = "int | str"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which part of the reply is the decision."""

    tool: str | None = None
    match: str | None = None
    exact_args: bool = False


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


def load_trace(trace: TraceInput) -> Trace:
    """The trace of that path, or of that name in the trace folder; `last` is the newest there.

    The folder is $RUNTAPE_DIR, or `traces` in the working directory.

    Raises:
        TraceNotFound: there is no such file.
        TraceUnreadable: it holds no readable event.
    """
    if isinstance(trace, Trace):
        return trace
    name = os.fspath(trace)
    # What is written as a path is one, so that a missing file is not looked for by name elsewhere.
    if Path(name).is_file() or Path(name).name != name:
        return Trace.load(name)
    return Trace.load(Store(Path(os.environ.get("RUNTAPE_DIR") or "traces")).find(name))


def open_case(trace: TraceInput, event: EventInput, selection: Selection | None = None) -> Case:
    """The recorded decision at an event.

    Raises:
        TraceNotFound: there is no such trace.
        EventNotFound: the trace has no such event.
        NotADecision: the event belongs to no model reply, or its reply does not make the selected decision.
    """
    selection = selection or Selection()
    loaded = load_trace(trace)
    moment = resolve(loaded, event)
    request, reply = loaded.request(moment.request), loaded.reply(moment.response)
    earlier = tuple(earlier_calls(request))
    decision = choose(
        reply,
        tool=selection.tool or moment.tool,
        match=selection.match,
        exact_args=selection.exact_args,
        event=moment.response.id,
        earlier=earlier,
    )
    return Case(loaded, moment, selection, request, reply, earlier, decision, build(request, origins(loaded, moment)))
