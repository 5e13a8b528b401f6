"""Which decision of a recorded reply is looked into."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import NotADecision
from ..stats.tally import Verdict
from ..text import shorten
from ..wire.values import Reply, ToolCall
from .actions import judge
from .canonical import canonical
from .decision import Decision
from .matchers import AnswersInText, CallsTools, Says, found_in_arguments
from .pattern import Pattern, compiled

_SHOWN = 60


def choose(
    reply: Reply,
    *,
    tool: str | None = None,
    match: str | None = None,
    exact_args: bool = False,
    event: int,
    earlier: Sequence[ToolCall] = (),
) -> Decision:
    """The decision that the recorded reply made.

    Without `tool`: the tools that the reply calls, all of them; for a reply without a call, that it answers in text.

    Args:
        reply: the recorded reply.
        tool: only the calls of this tool matter.
        match: a regular expression that must be found in the arguments of a deciding call, or in the reply's text if
            that is where the recorded reply has it.
        exact_args: the arguments must be equal as JSON.
        event: the recorded event, for messages.
        earlier: the calls that the conversation already held.

    Raises:
        NotADecision: the recorded reply does not do this.
        BadInput: `match` is no regular expression, or one that takes too long.
    """
    pattern = compiled(match) if match is not None else None
    called = tuple(dict.fromkeys(call.name for call in reply.tool_calls))
    if tool is not None and tool not in called:
        raise NotADecision(
            f"The reply of event {event} does not call {tool!r}: it {_did(reply, earlier)}. {_offer(called)}"
        )
    if exact_args and not called:
        raise NotADecision(
            f"The reply of event {event} calls no tool, so it has no arguments to compare. Leave out exact_args."
        )
    if called:
        decision = _calls(reply, called if tool is None else (tool,), pattern, exact_args=exact_args)
    else:
        decision = _text(pattern)
    outcome = judge(decision, reply, earlier)
    if outcome.verdict == "same":
        return decision
    if outcome.verdict in {"other", "stop"} and match is not None:
        raise NotADecision(
            f"The pattern {shorten(match, _SHOWN)!r} is not in what the reply of event {event} says or calls with: it "
            f"{_did(reply, earlier)}. Pass a pattern that the recorded reply has."
        )
    raise NotADecision(
        f"The reply of event {event} is no decision that can be rerun: {_VOID.get(outcome.verdict, outcome.action)}. "
        "Choose another event."
    )


_VOID: dict[Verdict, str] = {
    "filtered": "the provider's filter withheld it",
    "truncated": "it was cut at its token limit before a tool call was complete",
    "refused": "it is a refusal",
    "invalid": "it has neither text nor a tool call",
}

_ANYTHING = AnswersInText()


def _calls(reply: Reply, tools: Sequence[str], pattern: Pattern | None, *, exact_args: bool) -> Decision:
    deciding = [call for call in reply.tool_calls if call.name in tools]
    in_text = pattern is not None and not any(found_in_arguments(pattern, call) for call in deciding)
    matcher = CallsTools(
        frozenset(tools),
        pattern,
        in_text,
        frozenset(canonical(call) for call in deciding) if exact_args else None,
    )
    label = f"calls {' and '.join(tools)}"
    if exact_args:
        label += " with the same arguments"
    if pattern is not None:
        label += f" {'and says' if in_text else 'with'} {shorten(pattern.pattern, _SHOWN)!r}"
    return Decision(label, tuple(tools), matcher)


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
