"""How many model calls may still be paid for.

A call is one sample asked for. Every request that is sent costs: as many calls as answers arrived, one for an error
answer, all that it asked for when it got no answer (the server may have billed them). Calls are set aside before a
request starts and settled after it, so that no order of events can exceed the limit. No locks: one event loop owns a
budget.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio

from ..errors import BudgetSpent


class Budget:
    """A hard limit on model calls; None is no limit."""

    def __init__(self, limit: int | None, *, spent: int = 0, on_cost: Callable[[int], None] | None = None) -> None:
        """`on_cost` is called with the calls of each payment."""
        self.limit = limit
        self._on_cost = on_cost
        self.spent = spent
        """Calls paid for, those of earlier processes included when they were handed in."""
        self.held = 0
        """Calls set aside for requests on their way."""
        self.closed = False
        self._waiting: anyio.Event | None = None

    @property
    def left(self) -> int | None:
        """Calls that are neither paid for nor set aside; None when there is no limit."""
        if self.closed:
            return 0
        return None if self.limit is None else max(0, self.limit - self.spent - self.held)

    def close(self) -> None:
        """Let no further call start. Those on their way are finished, paid for and kept."""
        self.closed = True
        self._wake()

    def reserve(self, most: int) -> Hold | None:
        """Calls for one request, `most` or fewer when fewer are left; None when none are."""
        calls = most if self.left is None else min(most, self.left)
        return Hold(self, calls) if calls > 0 else None

    async def freed(self) -> None:
        """Wait until a call is free: a request on its way may cost less than was set aside for it.

        Raises:
            BudgetSpent: every call is paid for.
        """
        while self.left == 0:
            if not self.held:
                raise self.refusal()
            self._waiting = self._waiting or anyio.Event()
            await self._waiting.wait()

    def refusal(self) -> BudgetSpent:
        """The error that says so."""
        if self.closed:
            return BudgetSpent(
                "it was told to stop. Every reply that was paid for is kept: ask again to go on from here."
            )
        return BudgetSpent(
            f"the budget of {self.limit} model calls is spent. Every reply that was paid for is kept: "
            "ask again with a larger budget to go on from here."
        )

    def settle(self, held: int, cost: int) -> None:
        """Give back `held` calls and pay `cost` of them."""
        self.held -= held
        self.spent += cost
        if cost and self._on_cost is not None:
            self._on_cost(cost)
        self._wake()

    def _wake(self) -> None:
        if self._waiting is not None:
            self._waiting.set()
            self._waiting = None


class Hold:
    """Calls set aside for the attempts of one request."""

    def __init__(self, budget: Budget, n: int) -> None:
        self.n = n
        """Samples to ask for."""
        self.attempts = 0
        """Requests sent."""
        self._budget = budget
        self._open = True
        budget.held += n

    def start(self) -> None:
        """Count one more request, right before it is sent.

        Raises:
            BudgetSpent: it does not fit, or the budget was closed; nothing may be sent.
        """
        if not self.attempts and self._budget.closed:
            raise self._budget.refusal()
        if self.attempts:
            # The attempt before this one got no answer, or an error, which is paid for already.
            self._pay(self.n)
            left = self._budget.left
            if left is not None and left < self.n:
                raise self._budget.refusal()
            self._budget.held += self.n
            self._open = True
        self.attempts += 1

    def rejected(self) -> None:
        """Pay for an attempt that was answered with an error: one call, as no sample was made."""
        self._pay(1)

    def settle(self, arrived: int | None) -> None:
        """Pay for the last attempt: `arrived` samples, or None when no answer came. Later calls change nothing."""
        if not self.attempts:
            self._pay(0)
        else:
            self._pay(self.n if arrived is None else max(arrived, 1))

    def _pay(self, cost: int) -> None:
        if self._open:
            self._open = False
            self._budget.settle(self.n, min(cost, self.n))
