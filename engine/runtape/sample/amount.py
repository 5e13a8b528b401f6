"""What requests use: tokens, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens and their price."""

    tokens: int = 0
    """Input and output together."""
    usd: float = 0.0
    """US dollars; 0 where no price is known."""

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.tokens + other.tokens, self.usd + other.usd)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.tokens - other.tokens, self.usd - other.usd)


NOTHING = Amount()


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Most that may be used; None is no limit."""

    tokens: int | None = None
    usd: float | None = None

    @property
    def any(self) -> bool:
        """True when there is a limit."""
        return self.tokens is not None or self.usd is not None

    def allow(self, amount: Amount) -> bool:
        """Whether an amount is within the limits."""
        return (self.tokens is None or amount.tokens <= self.tokens) and (
            self.usd is None or amount.usd <= self.usd + ROUNDING
        )


@dataclass(slots=True)
class Wallet:
    """What was used and is set aside so far; budgets that share one keep their ceilings together."""

    used: Amount = NOTHING
    set_aside: Amount = NOTHING


NO_CEILING = Ceiling()

ROUNDING = 1e-9
"""US dollars that sums of many prices may be off by."""
