"""The verbs as the server asks for them, and the engine that answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from .work import Work

Replacement: TypeAlias = "str | dict[str, str]"
Depth: TypeAlias = Literal["quick", "full", "upstream"]


@dataclass(frozen=True, slots=True)
class Decision:
    """Which decision of which run."""

    trace: Path
    event: int | str
    tool: str | None = None
    match: str | None = None
    exact_args: bool = False
    args: tuple[str, ...] = ()
    where: str | None = None
    judge: str | None = None
    """A question to a model; code never comes from a question."""


@dataclass(frozen=True, slots=True)
class WhyQuestion:
    """What led to a decision?"""

    decision: Decision
    suspects: tuple[str, ...] = ()
    depth: Depth = "quick"
    ask: bool = False
    precise: bool = False
    fast: bool = False


@dataclass(frozen=True, slots=True)
class FixQuestion:
    """Which change makes a decision go away?"""

    decision: Decision
    candidates: tuple[Mapping[str, object], ...] = ()
    controls: tuple[tuple[Path, str], ...] = ()
    """Decisions that have to stay as they are."""
    variants: tuple[str, ...] = ()
    """What the cause could say in other words."""


@dataclass(frozen=True, slots=True)
class RerunQuestion:
    """What does the agent do with a change?"""

    decision: Decision
    runs: int = 10
    drop: tuple[str, ...] = ()
    replace: Replacement | None = None
    system: str | None = None
    add_system: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class NewTest:
    """A regression test to write."""

    decision: Decision
    path: str
    """Relative to the project."""
    fix: str | None = None
    """Name of a candidate that was measured for this decision."""
    add_system: str | None = None
    system_from: str | None = None
    clean_with: str | None = None
    guard_with: str | None = None
    controls: tuple[tuple[Path, str], ...] = ()
    """Decisions that have to stay as they are; none for those that the fix was measured on."""


Question: TypeAlias = WhyQuestion | FixQuestion | RerunQuestion


class Verbs(Protocol):
    """What answers questions; tests hand in their own."""

    def work(self, question: Question) -> Work:
        """The work that answers a question; starts nothing."""
        ...

    def write_test(self, test: NewTest, project: Path) -> Path:
        """Writes a new test and returns its path.

        Raises:
            RuntapeError: it cannot be written there, or not for this decision.
        """
        ...
