"""What to do with a result: a verb and the arguments that change, for each front end to spell in its own language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Verb: TypeAlias = Literal["why", "fix", "rerun", "write_test"]

LARGER = "larger"
"""As the budget of a step: more than the result was given."""


@dataclass(frozen=True, slots=True)
class Step:
    """One next step."""

    words: str
    """What it is for, without an end mark."""
    verb: Verb | None = None
    """The verb that does it, on the same decision; None when none does."""
    changed: Mapping[str, object] = field(default_factory=dict[str, object])
    """Arguments of the verb, by the names of the library, that differ from those that gave the result."""


Spell: TypeAlias = Callable[[Step], str]
"""The call of a step in the language of a front end; asked only of steps with a verb."""


def spelled(step: Step, spell: Spell) -> str:
    """A step in one paragraph, its call on a line of its own."""
    return f"{step.words}." if step.verb is None else f"{step.words}:\n\n    {spell(step)}"
