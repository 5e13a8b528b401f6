"""Which decision of a recorded reply is looked into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import BadInput, NotADecision
from ..stats.tally import Verdict
from ..text import shorten
from ..wire.values import Reply, ToolCall
from .actions import is_for_the_judge, judge
from .canonical import is_readable
from .condition import Condition
from .condition_text import condition
from .decision import Decision
from .matchers import AnswersInText, Anything, CallsTools, Says, form, found_in_arguments, fulfils
from .missing import need_argument, unfulfilled
from .paths import Path, argument
from .pattern import Pattern, compiled

_SHOWN = 60


def choose(
    reply: Reply,
    *,
    tool: str | None = None,
    match: str | None = None,
    exact_args: bool = False,
    args: Sequence[str] = (),
    where: str | None = None,
    judged_by: str | None = None,
    event: int,
    earlier: Sequence[ToolCall] = (),
) -> Decision:
    """The decision that the recorded reply made.

    Without `tool`: the tools that the reply calls, all of them; with `where`, those for whose call it holds. For a
    reply without a call, that it answers in text; with a judge, whatever the judge says of any reply.

    Args:
        reply: the recorded reply.
        tool: only the calls of this tool matter.
        match: a regular expression that must be found in the arguments of a deciding call, or in the reply's text if
            that is where the recorded reply has it.
        exact_args: the arguments must be equal as JSON.
        args: these arguments must be equal as JSON, whatever the others are; see `paths.argument`.
        where: a condition that the arguments of a deciding call must fulfil; see `condition_text`.
        judged_by: who judges the replies that are left, in words.
        event: the recorded event, for messages.
        earlier: the calls that the conversation already held.

    Raises:
        NotADecision: the recorded reply does not do this. What a judge says of it is for the caller to find out.
        BadInput: `match`, `args` or `where` cannot be read, or they exclude each other.
    """
    wanted = _wanted(match, exact_args=exact_args, args=args, where=where)
    called = tuple(dict.fromkeys(call.name for call in reply.tool_calls))
    if tool is not None and tool not in called:
        raise NotADecision(
            f"The reply of event {event} does not call {tool!r}: it {_did(reply, earlier)}. {_offer(called)}"
        )
    if wanted.option is not None and not called:
        raise NotADecision(
            f"The reply of event {event} calls no tool, so it has no arguments to compare. Leave out {wanted.option}."
        )
    if called and (judged_by is None or tool is not None or wanted.option is not None):
        decision = _calls(reply, called if tool is None else (tool,), wanted, event)
    elif judged_by is not None and wanted.pattern is None:
        decision = Decision("answers", (), Anything())
    else:
        decision = _text(wanted.pattern)
    if judged_by is not None:
        decision = Decision(
            f"{decision.label}, judged so by {judged_by}",
            decision.tools,
            decision.matcher,
            decision.calls,
            judged_by,
        )
        if is_for_the_judge(decision, reply):
            return decision
    outcome = judge(decision, reply, earlier)
    if outcome.verdict == "same":
        return decision
    if outcome.verdict in {"other", "stop"} and match is not None:
        raise NotADecision(
            f"The pattern {shorten(match, _SHOWN)!r} is not in what the reply of event {event} says or calls with: it "
            f"{_did(reply, earlier)}. Pass a pattern that the recorded reply has."
        )
    why = _VOID.get(outcome.verdict, f"it {outcome.action}")
    raise NotADecision(f"The reply of event {event} is no decision that can be rerun: {why}. Choose another event.")


_VOID: dict[Verdict, str] = {
    "filtered": "the provider's filter withheld it",
    "truncated": "it was cut at its token limit before a tool call was complete",
    "refused": "it is a refusal",
}

_ANYTHING = AnswersInText()


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What must hold for arguments or text, ready to be asked."""

    pattern: Pattern | None
    where: Condition | None
    args: tuple[Path, ...] | None
    exact: bool

    @property
    def option(self) -> str | None:
        """The option that needs a call with arguments."""
        return "where" if self.where else "args" if self.args else "exact_args" if self.exact else None


def _wanted(match: str | None, *, exact_args: bool, args: Sequence[str], where: str | None) -> _Wanted:
    if exact_args and args:
        raise BadInput("exact_args compares every argument and args only some. Give one of them.")
    return _Wanted(
        compiled(match) if match is not None else None,
        condition(where) if where is not None else None,
        tuple(dict.fromkeys(map(argument, args))) if args else None,
        exact_args,
    )


def _calls(reply: Reply, tools: Sequence[str], wanted: _Wanted, event: int) -> Decision:
    deciding = tuple(call for call in reply.tool_calls if call.name in tools)
    where, pattern = wanted.where, wanted.pattern
    if where is not None:
        deciding = _fulfilling(deciding, where, event)
        tools = tuple(dict.fromkeys(call.name for call in deciding))
    for path in wanted.args or ():
        need_argument(path, deciding, event)
    in_text = pattern is not None and not any(found_in_arguments(pattern, call) for call in deciding)
    compared = wanted.exact or wanted.args is not None
    matcher = CallsTools(
        frozenset(tools),
        pattern,
        in_text,
        frozenset(form(call, wanted.args) for call in deciding) if compared else None,
        wanted.args,
        where,
        readable=all(map(is_readable, deciding)),
    )
    label = f"calls {' and '.join(tools)}"
    if wanted.exact:
        label += " with the same arguments"
    if wanted.args is not None:
        label += f" with the same {' and '.join(shorten(path.text, _SHOWN) for path in wanted.args)}"
    if pattern is not None:
        label += f" {'and says' if in_text else 'with'} {shorten(pattern.pattern, _SHOWN)!r}"
    if where is not None:
        label += f" where {shorten(where.text, _SHOWN)}"
    return Decision(label, tuple(tools), matcher, deciding)


def _fulfilling(calls: Sequence[ToolCall], where: Condition, event: int) -> tuple[ToolCall, ...]:
    """Those of the calls for which the condition holds.

    Raises:
        NotADecision: it holds for none.
    """
    found = tuple(call for call in calls if fulfils(where, call))
    if not found:
        raise NotADecision(unfulfilled(where, calls, event))
    return found


def _text(pattern: Pattern | None) -> Decision:
    if pattern is None:
        return Decision("answers in text", (), _ANYTHING)
    return Decision(f"says {shorten(pattern.pattern, _SHOWN)!r}", (), Says(pattern))


def _did(reply: Reply, earlier: Sequence[ToolCall]) -> str:
    """What the reply does, in a few words."""
    return judge(Decision("", (), _ANYTHING), reply, earlier).action


def _offer(called: Sequence[str]) -> str:
    if not called:
        return "Leave out the tool to look into its text, or choose the event whose reply calls it."
    return (
        f"Pass {' or '.join(repr(shorten(name, _SHOWN)) for name in called)}, or choose the event whose reply calls it."
    )
