"""One recorded decision with everything that reruns of it need."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..context.build import build
from ..context.pieces import Context
from ..decision.actions import earlier_calls
from ..decision.choose import choose
from ..decision.decision import Decision
from ..errors import BadInput
from ..report.phrases import number
from ..said import Said
from ..trace.chain import whole
from ..trace.lookup import find_trace
from ..trace.refs import Moment, resolve
from ..trace.trace import Trace
from ..wire.values import Json, Reply, Request, ToolCall
from .caveats import before_spending, left_out, shortcoming
from .judges import Judge, JudgeInput, judge_of

_REBUILT = (
    "The call named the response before it (previous_response_id) in place of sending what led to it. "
    "The reruns send what {} of this run held."
)
_ANY_TEXT = Said(
    "Any answer in text counts as this decision, whatever it says. Pass match or judge to say what matters."
)

TraceInput: TypeAlias = "Trace | str | os.PathLike[str]"
EventInput: TypeAlias = "int | str"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which part of the reply is the decision."""

    tool: str | None = None
    match: str | None = None
    exact_args: bool = False
    args: tuple[str, ...] = ()
    """Arguments that must be equal, by path."""
    where: str | None = None
    """A condition on the arguments."""
    judge: Judge | None = None
    """Who says whether a reply makes the decision."""

    @property
    def identity(self) -> Json:
        """Equal for selections that count the same replies."""
        rule: list[Json] = [self.match, self.exact_args]
        if self.args or self.where is not None or self.judge is not None:
            args: list[Json] = [*self.args]
            rule += [args, self.where, self.judge.identity if self.judge else None]
        return rule


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
        """What the reader has to know of the request, what reruns leave out of it, and the choice of the decision."""
        notes: list[str] = list(before_spending(self.trace, self.moment))
        notes += [Said(_REBUILT.format(number(self.rebuilt, "recorded call")))] if self.rebuilt else []
        if not self.decision.tools and self.selection.match is None and self.decision.judge is None:
            notes.append(_ANY_TEXT)
        return [*notes, *left_out(self.request)]


def selection_of(
    tool: str | None,
    match: str | None,
    *,
    exact_args: bool,
    args: Sequence[str],
    where: str | None,
    judge: JudgeInput,
) -> Selection:
    """The selection that the arguments of a verb stand for.

    Raises:
        BadInput: `args` is one text, or `judge` no judge.
    """
    if isinstance(args, str):
        raise BadInput(f"args is a list of names, not one text. Pass [{args!r}].")
    return Selection(tool, match, exact_args, tuple(args), where, judge_of(judge))


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
            args=selection.args,
            where=selection.where,
            judged_by=selection.judge.name if selection.judge else None,
            event=moment.response.id,
            earlier=call.earlier,
        )

    return case_at(loaded, moment, selection, chosen)


def case_at(trace: Trace, moment: Moment, selection: Selection, chosen: Callable[[Opened], Decision]) -> Case:
    """The case of a recorded model call with the decision that is `chosen` from it; raises as `open_case` does."""
    shortcoming(trace, moment)
    sent, reply = whole(trace, moment), _acted_on(trace.reply(moment.response))
    opened = Opened(sent.request, reply, tuple(earlier_calls(sent.request)), build(sent.request, sent.origins))
    return Case(
        trace, moment, selection, opened.request, reply, opened.earlier, chosen(opened), opened.context, sent.earlier
    )


def _acted_on(reply: Reply) -> Reply:
    """The recorded reply as the agent took it: one that broke off, or was left early, as far as it came."""
    lacks = reply.stop == "unfinished" or (reply.stop == "tool_calls" and not reply.tool_calls)
    return replace(reply, stop="other") if lacks else reply
