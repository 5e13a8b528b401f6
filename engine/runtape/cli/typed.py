"""The command line that is being answered, and the one that goes on from its result."""

from __future__ import annotations

import inspect
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, fields
from typing import Any, Final, cast

from ..report.step import LARGER, Spell, Step
from .options import DecisionFlags, RerunFlags

_SHARED: Final = frozenset(flag.name for group in (DecisionFlags, RerunFlags) for flag in fields(group))
"""Parameters that every command of a verb has."""
_OF_ONE_ANSWER: Final = frozenset({"trace", "event", "dry", "html", "write_test"})
_LIMITS: Final = ("budget", "budget_tokens", "budget_usd")
_FLAGS: Final = {"suspects": "--suspect", "candidates": "--candidate", "out": "--write-test"}
"""Arguments of the library that have other names here."""
_COMMANDS: Final = {"why": ("why",), "fix": ("fix",), "rerun": ("rerun", "odds"), "write_test": ("fix",)}
"""By verb, what does it. A written test comes with the fix that it holds on to, which is measured already."""


@dataclass(frozen=True, slots=True)
class Typed:
    """One command with its arguments."""

    command: str
    parameters: Mapping[str, inspect.Parameter]
    given: Mapping[str, object]

    def after(self, step: Step, trace: str, event: str) -> str:
        """The command line that does a step about a decision of a run, to be pasted into a shell."""
        doing = _COMMANDS[step.verb or "why"]
        same = self.command in doing
        words = ["runtape", self.command if same else doing[0], trace, event]
        changed = {name: value for name, value in step.changed.items() if name not in {"budget", "fix"}}
        if step.changed.get("budget") == LARGER:
            changed |= self._doubled()
        for name, value in self.given.items():
            kept = name not in _OF_ONE_ANSWER and name not in changed and (same or name in _SHARED)
            if kept and value != self.parameters[name].default:
                words += self._words(_flag(self.parameters[name]), value)
        for name, value in changed.items():
            words += self._words(_FLAGS.get(name, f"--{name.replace('_', '-')}"), value)
        return shlex.join(words)

    def _doubled(self) -> dict[str, object]:
        given = {name: value for name in _LIMITS if isinstance(value := self.given.get(name), (int, float))}
        typed = {name: value for name, value in given.items() if value != self.parameters[name].default}
        return {name: 2 * value for name, value in (typed or given).items()}

    def _words(self, flag: str, value: object) -> list[str]:
        match value:
            case bool():
                on, _, off = flag.partition("/")
                return [on if value else off]
            case list() | tuple():
                return [word for one in cast("Sequence[object]", value) for word in self._words(flag, one)]
            case dict():
                return [flag, json.dumps(value)]
            case _:
                return [flag, str(value)]


_typed: ContextVar[Typed | None] = ContextVar("typed", default=None)


def begin(command: str, parameters: Iterable[inspect.Parameter], given: Mapping[str, object]) -> None:
    """Remember the command line that is being answered."""
    _typed.set(Typed(command, {parameter.name: parameter for parameter in parameters}, given))


def speller(trace: str, event: str | int) -> Spell:
    """Spells next steps about a decision as commands, with the flags that were given."""
    typed = _typed.get()
    assert typed is not None, "commands are run by the group"

    def spell(step: Step) -> str:
        return typed.after(step, str(typed.given["trace"]) if _is_named(typed) else trace, str(event))

    return spell


def _is_named(typed: Typed) -> bool:
    """Whether the run was given by a name that means it for good: another may be the last one tomorrow."""
    return typed.given.get("trace") not in {None, "last"}


def _flag(parameter: inspect.Parameter) -> str:
    told: Any = parameter.annotation
    declared = [name for info in getattr(told, "__metadata__", ()) for name in info.param_decls or ()]
    return next((name for name in declared if name.startswith("--")), f"--{parameter.name.replace('_', '-')}")
