"""What became of a change where the cause stands elsewhere, or says the same in other words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

HeldOutcome: TypeAlias = Literal["held", "not held", "not measured"]
"""`not measured`: the decision is not made there without the change either, or it was not rerun often enough."""


@dataclass(frozen=True, slots=True)
class Held:
    """One form of the cause, with one change."""

    form: str
    """Such as `moved to the start of its text`."""
    outcome: HeldOutcome
    count: tuple[int, int]
    """(kept, n): reruns with the change in which the decision was made, and reruns."""
    without: tuple[int, int]
    """The same without the change."""
    reason: str
    """Why it did not hold or was not measured; otherwise empty."""


def holds_in(forms: Sequence[Held]) -> tuple[int, int]:
    """(held, measured): forms in which a change holds, and forms that say whether it does."""
    measured = [form for form in forms if form.outcome != "not measured"]
    return sum(form.outcome == "held" for form in measured), len(measured)


def together(forms: Sequence[Held]) -> tuple[int, int]:
    """(kept, n) of the reruns with the change over all forms that were measured."""
    counts = [form.count for form in forms if form.outcome != "not measured"]
    return sum(kept for kept, _ in counts), sum(n for _, n in counts)
