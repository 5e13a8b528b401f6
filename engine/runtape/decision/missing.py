"""What the recorded calls have where a decision asks for something else."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from .. import canon
from ..errors import NotADecision
from ..text import shorten
from ..wire.values import Json, ToolCall
from .condition import Condition
from .matchers import arguments_of
from .paths import ABSENT, Path

_SHOWN = 60
_NAMES = 8


def need_argument(path: Path, calls: Sequence[ToolCall], event: int) -> None:
    """Make sure that one of the calls has this argument.

    Raises:
        NotADecision: none has; the message names those that they have.
    """
    if any(path.find(arguments_of(call)) is not ABSENT for call in calls):
        return
    name = shorten(path.text, _SHOWN)
    known = {call.name: list(_names(arguments_of(call))) for call in calls}
    has = "; ".join(
        f"{shorten(tool, _SHOWN)} has {', '.join(shorten(key, _SHOWN) for key in keys[:_NAMES]) or 'none'}"
        for tool, keys in known.items()
    )
    near = difflib.get_close_matches(path.text, [key for keys in known.values() for key in keys], n=1)
    hint = f"Did you mean {shorten(near[0], _SHOWN)!r}?" if near else "Pass one that the recorded call has."
    raise NotADecision(f"No call in the reply of event {event} has an argument {name!r}: {has}. {hint}")


def unfulfilled(where: Condition, calls: Sequence[ToolCall], event: int) -> str:
    """That a condition holds for none of the calls, with the values that it looks at."""
    asked = shorten(where.text, _SHOWN)
    first = calls[0]
    seen = ", ".join(f"{shorten(path.text, _SHOWN)} is {_value(path, first)}" for path in where.paths[:_NAMES])
    tool = shorten(first.name, _SHOWN)
    return (
        f"The condition {asked!r} does not hold for what the reply of event {event} calls {tool!r} with"
        + (f": {seen}" if seen else "")
        + ". Pass a condition that holds for the recorded call."
    )


def _names(arguments: Json) -> list[str]:
    return list(arguments) if isinstance(arguments, dict) else []


def _value(path: Path, call: ToolCall) -> str:
    value = path.find(arguments_of(call))
    return "not there" if value is ABSENT else shorten(canon.dumps(value).decode(), _SHOWN)
