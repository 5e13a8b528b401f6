"""How the contexts of two decisions of one run differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

from .. import canon
from ..wire.dialects import dialect_for
from ..wire.values import Json, JsonObject, Parts
from .calls import declared
from .chain import whole
from .refs import Moment
from .trace import Trace

Kind: TypeAlias = Literal["added", "removed", "changed"]


@dataclass(frozen=True, slots=True)
class Change:
    """One part of the context that is not the same in both."""

    kind: Kind
    part: str
    """`system`, `message`, `tool NAME`, `model` or `parameter NAME`."""
    before: Json
    """What the first context has; None where it has nothing."""
    after: Json
    """What the second context has; None where it has nothing."""
    at: tuple[int | None, int | None] = (None, None)
    """For a message, its index in both contexts."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two contexts side by side."""

    same: int
    """Messages that stand in both, in the same order."""
    changes: tuple[Change, ...]
    """Messages in order, then tools, model and parameters."""


def compare(trace: Trace, one: Moment, other: Moment) -> Comparison:
    """What has to change in the context of one decision to get that of the other.

    Raises:
        BrokenRequest: what the model saw is not all in the trace.
    """
    before, after = _sent(trace, one), _sent(trace, other)
    matcher = SequenceMatcher(None, _digests(before.messages), _digests(after.messages), autojunk=False)
    messages: list[Change] = []
    same = 0
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        if tag == "equal":
            same += i_end - i
        else:
            messages += _replaced(before.messages, after.messages, range(i, i_end), range(j, j_end))
    system = [] if before.system == after.system else [_change("system", before.system, after.system)]
    tools = _keyed("tool", _tools(before.tools), _tools(after.tools))
    model = [] if before.model == after.model else [_change("model", before.model, after.model)]
    parameters = _keyed("parameter", before.params, after.params)
    return Comparison(same, (*system, *messages, *tools, *model, *parameters))


def _sent(trace: Trace, moment: Moment) -> Parts:
    request = whole(trace, moment).request
    return dialect_for(request.api).split(request.body)


def _digests(messages: Sequence[Json]) -> list[str]:
    return [canon.digest(message) for message in messages]


def _replaced(before: list[Json], after: list[Json], gone: range, come: range) -> list[Change]:
    """Messages of one role in the same place are one that changed; others went or came."""
    found: list[Change] = []
    paired = min(len(gone), len(come))
    for i, j in zip(gone[:paired], come[:paired], strict=True):
        if _role(before[i]) == _role(after[j]):
            found.append(Change("changed", "message", before[i], after[j], (i, j)))
        else:
            found += [_removed(before, i), _added(after, j)]
    found += [_removed(before, i) for i in gone[paired:]]
    return found + [_added(after, j) for j in come[paired:]]


def _removed(messages: list[Json], index: int) -> Change:
    return Change("removed", "message", messages[index], None, (index, None))


def _added(messages: list[Json], index: int) -> Change:
    return Change("added", "message", None, messages[index], (None, index))


def _role(message: Json) -> Json:
    return (message.get("role") or message.get("type")) if isinstance(message, dict) else None


def _tools(tools: Json) -> JsonObject:
    listed = tools if isinstance(tools, list) else []
    return {declared(tool) or f"number {index + 1}": tool for index, tool in enumerate(listed)}


def _keyed(noun: str, before: JsonObject, after: JsonObject) -> list[Change]:
    names = dict.fromkeys((*before, *after))
    return [
        _change(f"{noun} {name}", before.get(name), after.get(name))
        for name in names
        if before.get(name) != after.get(name)
    ]


def _change(part: str, before: Json, after: Json) -> Change:
    kind: Kind = "added" if before is None else "removed" if after is None else "changed"
    return Change(kind, part, before, after)
