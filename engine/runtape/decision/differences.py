"""In what a call differs from the recorded one, in a few words."""

from __future__ import annotations

from collections.abc import Sequence

from .. import canon
from ..text import shorten
from ..wire.values import Json, ToolCall
from .canonical import same_value
from .decision import Decision
from .matchers import CallsTools, arguments_of
from .paths import ABSENT, Found, Path

OTHERWISE = "with other arguments"
_VALUE = 40
"""Characters of a value that is still shown: a longer one is a text of which every reply has its own."""
_NAME = 40
_SHOWN = 2


def difference(decision: Decision, rule: CallsTools, calls: Sequence[ToolCall]) -> str:
    """What tells these calls from the recorded ones, such as `with amount 20 instead of 2000`.

    `with other arguments` where there is no single pair of calls to compare, or nothing short to tell.
    """
    for tool in decision.tools:
        before = [call for call in decision.calls if call.name == tool]
        now = [call for call in calls if call.name == tool]
        if len(before) == len(now) == 1:
            told = list(_told(rule, arguments_of(before[0]), arguments_of(now[0])))
            if told:
                more = f" and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
                return f"{' and '.join(told[:_SHOWN])}{more}"
    return OTHERWISE


def _told(rule: CallsTools, before: Json, now: Json) -> list[str]:
    return [
        _one(path, old, new)
        for path in _paths(rule, before, now)
        if not _same(old := path.find(before), new := path.find(now))
    ]


def _paths(rule: CallsTools, before: Json, now: Json) -> tuple[Path, ...]:
    """The arguments that the rule is about."""
    if rule.args is not None or rule.where is not None:
        return tuple(dict.fromkeys((*(rule.args or ()), *(rule.where.paths if rule.where else ()))))
    if rule.calls is not None and isinstance(before, dict) and isinstance(now, dict):
        return tuple(Path((key,)) for key in dict.fromkeys((*before, *now)))
    return ()


def _same(old: Found, new: Found) -> bool:
    if old is ABSENT or new is ABSENT:
        return old is new
    return same_value(old, new)


def _one(path: Path, old: Found, new: Found) -> str:
    name = shorten(path.text, _NAME)
    if new is ABSENT:
        return f"without {name}"
    spelled = canon.dumps(new).decode()
    if len(spelled) > _VALUE:
        return f"with another {name}"
    instead = "" if old is ABSENT else canon.dumps(old).decode()
    return f"with {name} {spelled}" + (f" instead of {shorten(instead, _VALUE)}" if instead else "")
