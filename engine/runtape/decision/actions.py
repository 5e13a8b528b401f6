"""What a reply did, seen from a decision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..stats.tally import Outcome, Verdict
from ..text import shorten
from ..wire.dialects import dialect_for
from ..wire.reading import call_of
from ..wire.values import Json, Reply, Request, ToolCall
from .canonical import canonical, is_complete, is_readable
from .decision import Decision
from .differences import difference
from .matchers import CallsTools

_NAME_LENGTH = 40
_NAMES = 3
# Question marks: Latin, full-width, Arabic, Greek.
_QUESTION_MARKS = ("?", "\uff1f", "\u061f", ";", "\u037e")


def judge(decision: Decision, reply: Reply, earlier: Sequence[ToolCall], *, ruling: bool | None = None) -> Outcome:
    """What the reply did.

    Args:
        decision: what counts as the same.
        reply: one sample.
        earlier: the calls that the conversation already holds; one of them made again is data fetched again.
        ruling: what the decision's judge says of a reply that `is_for_the_judge`; None when it says neither.

    Returns:
        `filtered`, `truncated`, `refused`, `invalid` or `unjudged` for a reply that is no sample of anything; then
        `same`; then `other` for a call that was not made before, and `stop` when the reply answers in text, asks, or
        fetches again. A reply that was cut is `same` when a complete call of it makes the decision. A call whose
        arguments are no JSON is `invalid` where the decision is about arguments: it cannot be told what it asks for.
    """
    void = _void(decision, reply)
    if void:
        return Outcome(*void)
    calls = reply.tool_calls
    if decision.matcher.matches(reply):
        if decision.judge is None or ruling:
            return Outcome("same", _calls(calls) if calls else _in_text(reply))
        if ruling is None:
            return Outcome("unjudged", "was judged neither way")
        return _otherwise(calls, reply, earlier)
    rule = decision.matcher
    if isinstance(rule, CallsTools) and rule.about_arguments and rule.readable:
        broken = [call for call in calls if call.name in rule.tools and not is_readable(call)]
        if broken:
            return Outcome("invalid", f"{_calls(broken)} with arguments that are no JSON")
    outcome = _otherwise(calls, reply, earlier)
    if outcome.verdict == "other" and isinstance(rule, CallsTools) and rule.tools <= {call.name for call in calls}:
        return replace(outcome, action=f"{outcome.action} {difference(decision, rule, calls)}")
    return outcome


def is_for_the_judge(decision: Decision, reply: Reply) -> bool:
    """Whether it takes the decision's judge to say what this reply did."""
    return decision.judge is not None and _void(decision, reply) is None and decision.matcher.matches(reply)


def _otherwise(calls: Sequence[ToolCall], reply: Reply, earlier: Sequence[ToolCall]) -> Outcome:
    """What a reply did that does not make the decision."""
    if not calls:
        return Outcome("stop", _in_text(reply))
    known = {canonical(call) for call in earlier}
    if all(canonical(call) in known for call in calls):
        return Outcome("stop", f"{_calls(calls)} again")
    return Outcome("other", _calls(calls))


def earlier_calls(request: Request) -> list[ToolCall]:
    """The tool calls in the request's messages, in order, in the spelling of any API."""
    messages = dialect_for(request.api).split(request.body).messages
    # A call without a name can be repeated by no reply.
    return [call_of(name, arguments, id_) for name, arguments, id_ in _recorded(messages) if isinstance(name, str)]


def _void(decision: Decision, reply: Reply) -> tuple[Verdict, str] | None:
    if reply.stop == "filter":
        return "filtered", "withheld by the provider's filter"
    if reply.stop == "length":
        whole = replace(reply, text=None, tool_calls=tuple(call for call in reply.tool_calls if is_complete(call)))
        made = decision.judge is None and whole.tool_calls and decision.matcher.matches(whole)
        return None if made else ("truncated", "cut at the token limit")
    if reply.stop == "refusal" or (reply.refusal and reply.refusal.strip()):
        return "refused", "refuses"
    if reply.stop == "unfinished":
        return "invalid", "breaks off before its end"
    if not reply.tool_calls and not (reply.text and reply.text.strip()):
        return "invalid", "is empty"
    if reply.stop == "tool_calls" and not reply.tool_calls:
        return "invalid", "announces a tool call that is not in it"
    if any(not call.name.strip() for call in reply.tool_calls):
        return "invalid", "calls a tool without a name"
    return None


def _calls(calls: Sequence[ToolCall]) -> str:
    names = list(dict.fromkeys(shorten(call.name, _NAME_LENGTH) for call in calls))
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return f"calls {', '.join(names[:_NAMES])}{more}"


def _in_text(reply: Reply) -> str:
    text = (reply.text or "").rstrip("\"')]}*_`\u201d\u2019\u00bb \n")
    return "asks" if text.endswith(_QUESTION_MARKS) else "answers in text"


def _recorded(messages: Sequence[Json]) -> Iterator[tuple[Json, Json, Json]]:
    """Name, arguments and id of every call."""
    for message in messages:
        if not isinstance(message, dict):
            continue
        for part in (message, *_objects(message.get("content"))):
            match part.get("type"):
                case "function_call":
                    yield part.get("name"), part.get("arguments"), part.get("call_id")
                case "tool_use":
                    yield part.get("name"), part.get("input"), part.get("id")
                case "custom_tool_call":
                    yield part.get("name"), part.get("input"), part.get("call_id")
                case _:
                    pass
        for call in _objects(message.get("tool_calls")):
            function, custom = call.get("function"), call.get("custom")
            if isinstance(function, dict):
                yield function.get("name"), function.get("arguments"), call.get("id")
            elif isinstance(custom, dict):
                yield custom.get("name"), custom.get("input"), call.get("id")
        legacy = message.get("function_call")
        if isinstance(legacy, dict):
            yield legacy.get("name"), legacy.get("arguments"), None


def _objects(value: Json) -> list[dict[str, Json]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
