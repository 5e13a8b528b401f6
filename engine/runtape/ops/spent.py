"""What a run cost."""

from __future__ import annotations

from dataclasses import dataclass

from ..sample.amount import NOTHING, Amount


@dataclass(frozen=True, slots=True)
class Spent:
    """Samples and requests of one run."""

    calls: int = 0
    """Samples drawn from the model."""
    reused: int = 0
    """Samples answered from the reply cache."""
    requests: int = 0
    """Requests sent."""
    used: Amount = NOTHING
    """Tokens of the answers that told theirs, and their price where it is known."""
    verdicts: int = 0
    """How many of the samples judge replies, kept ones included."""

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.calls + other.calls,
            self.reused + other.reused,
            self.requests + other.requests,
            self.used + other.used,
            self.verdicts + other.verdicts,
        )
