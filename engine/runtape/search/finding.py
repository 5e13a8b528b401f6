"""What an attribution search has found so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..stats.tally import Tally

Kind = Literal["decisive", "required", "redundant", "together", "order"]
"""decisive: without it the agent does something else. required: without it the agent stops or asks.
redundant: the members are each enough. together: only removing them all lowers the rate. order: with the tools in
another order the rate is lower."""

Status = Literal[
    "found", "nothing found", "nothing read matters", "not reproducible", "too rare", "not enough reruns", "stopped"
]

Unfinished = Literal["running", "stopped", "budget", "void answers", "drift"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One proven dependence: removing `leaves` lowers the rate of the decision."""

    leaves: tuple[int, ...]
    """Indexes of the leaves, in context order; for an order of the tools, its number above those of all leaves."""
    kind: Kind
    base: Tally
    """The context as recorded."""
    without: Tally
    """Fresh reruns with `leaves` removed."""
    p: float
    """One-sided exact p value of the look that decided, 0-1."""
    drop: float
    low: float
    high: float
    """Difference of the two rates, and Newcombe's 95% interval for it."""
    put_back: tuple[tuple[int, Tally], ...] = ()
    """For a set: each member put back alone, with what happened."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A leaf under test or likely, not proven."""

    leaf: int
    probability: float


@dataclass(frozen=True, slots=True)
class Shift:
    """What some reruns without a few leaves showed, as it is: no claim."""

    leaves: tuple[int, ...]
    without: Tally


@dataclass(frozen=True, slots=True)
class Finding:
    """Everything a report needs from a search, valid at any moment of it."""

    status: Status
    base: Tally
    claims: tuple[Claim, ...] = ()
    """Proven, headline first."""
    suspects: tuple[Suspect, ...] = ()
    cleared: int = 0
    """Leaves whose removal was tried and changed nothing that the search still doubts."""
    cleared_leaves: tuple[int, ...] = ()
    """Those leaves, in context order."""
    held: tuple[int, ...] = ()
    """Leaves that were kept in place all along (system prompt and task in quick mode)."""
    missed: float = 0.0
    """Expected number of needed leaves that are neither proven nor suspected, by the search's own model."""
    missed_by_ratio: tuple[tuple[float, float], ...] = ()
    """(ratio, number): expected number of such leaves if each leaves this share of the rate."""
    shifts: tuple[Shift, ...] = ()
    """Where nothing is proven: the largest drops that were seen, largest first."""
    against: tuple[Shift, ...] = ()
    """Leaves without which the decision was made more often: a hint, never a cause."""
    orders: tuple[Tally, ...] = ()
    """The decision with the tools in other orders, one tally for each order that was tried."""
    restarts: int = 0
    """Times that the base was begun anew because the model changed meanwhile."""
    kept_only: Tally | None = None
    """The context with nothing but the claimed and the pinned leaves; None when not tried."""
    read_removed: Tally | None = None
    """The context with nothing that the agent read; None when not tried."""
    rounds: int = 0
    """Batches waited for, one after another."""
    samples: int = 0
    """Samples asked for, cached or not."""
    planned: int = 0
    """Expected samples of the whole search, as far as known now."""
    unfinished: Unfinished | None = None
    """Why this is not the end of the search: the budget is spent, answers did not count, the model kept
    changing, or it was stopped."""
