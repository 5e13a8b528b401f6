"""How many model calls may still be paid for.

A call is one sample asked for. Every request that is sent costs: as many calls as answers arrived, one for an error
answer, all that it asked for when it got no answer (the server may have billed them). Calls are set aside before a
request starts and settled after it, so that no order of events can exceed the limit. No locks: one event loop owns a
budget.

Beside calls, tokens and money may be limited. For each request the most that it can use is set aside, and what it did
use is paid when its answer tells.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio

from ..errors import KEPT, BudgetSpent
from .amount import NO_CEILING, NOTHING, Amount, Ceiling, Wallet

Worst = Callable[[int], Amount]
"""By number of samples, the most that a request for them can use."""


def _free(_: int) -> Amount:
    return NOTHING


class Budget:
    """A hard limit on model calls, and on what they use; None is no limit."""

    def __init__(
        self,
        limit: int | None,
        ceiling: Ceiling = NO_CEILING,
        *,
        spent: int = 0,
        on_cost: Callable[[int], None] | None = None,
        wallet: Wallet | None = None,
    ) -> None:
        """`on_cost` is called with the calls of each payment; `wallet` is what other budgets use as well."""
        self.limit = limit
        self.ceiling = ceiling
        self._on_cost = on_cost
        self.spent = spent
        """Calls paid for, those of earlier processes included when they were handed in."""
        self.used = NOTHING
        """Tokens and money paid for."""
        self.held = 0
        """Calls set aside for requests on their way."""
        self.wallet = wallet or Wallet()
        """Tokens and money paid for and set aside, by whoever shares it."""
        self.short = False
        """True once something was refused because it would have used too many tokens or too much money."""
        self.closed = False
        self._lacking: Amount | None = None
        """The least amount that did not fit since somebody last waited."""
        self._waiting: anyio.Event | None = None

    @property
    def left(self) -> int | None:
        """Calls that are neither paid for nor set aside; None when there is no limit."""
        if self.closed:
            return 0
        return None if self.limit is None else max(0, self.limit - self.spent - self.held)

    def spares(self, calls: int) -> bool:
        """Whether so many calls may go into what may not be needed: no more than half of the limit is then spent."""
        if self.ceiling.any:
            return False
        return self.left is None or self.limit is None or self.left - calls >= self.limit / 2

    def close(self) -> None:
        """Let no further call start. Those on their way are finished, paid for and kept."""
        self.closed = True
        self._wake()

    def reserve(self, most: int, worst: Worst = _free) -> Hold | None:
        """Calls for one request, `most` or fewer when fewer are left; None when none are."""
        calls = most if self.left is None else min(most, self.left)
        while calls > 0 and not self.fits(worst(calls)):
            calls -= 1
        if calls > 0:
            return Hold(self, calls, worst(calls))
        least = worst(1)
        if self._lacking is None or (least.tokens, least.usd) < (self._lacking.tokens, self._lacking.usd):
            self._lacking = least
        return None

    def fits(self, amount: Amount) -> bool:
        """Whether that much may still be used."""
        return not self.ceiling.any or self.ceiling.allow(self.wallet.used + self.wallet.set_aside + amount)

    async def freed(self) -> None:
        """Wait until a call is free: a request on its way may cost less than was set aside for it.

        Raises:
            BudgetSpent: every call is paid for, or what one can use at most does not fit.
        """
        lacking, self._lacking = self._lacking or NOTHING, None
        while self.left == 0 or not self.fits(lacking):
            if not self.held:
                raise self.refusal(lacking)
            self._waiting = self._waiting or anyio.Event()
            await self._waiting.wait()

    def refusal(self, lacking: Amount = NOTHING) -> BudgetSpent:
        """The error that says so; `lacking` is what did not fit."""
        if self.closed:
            return BudgetSpent(f"it was told to stop. Ask again to go on from here: {KEPT}")
        go_on = f"Ask again with a larger budget to go on from here: {KEPT}"
        tokens, usd, used = self.ceiling.tokens, self.ceiling.usd, self.wallet.used
        self.short = not self.fits(lacking)
        if tokens is not None and not Ceiling(tokens).allow(used + lacking):
            most = f"the next request may use {lacking.tokens:,}"
            return BudgetSpent(f"of the budget of {tokens:,} tokens {used.tokens:,} are used, and {most}. {go_on}")
        if usd is not None and not Ceiling(usd=usd).allow(used + lacking):
            most = f"the next request may cost ${lacking.usd:.4f}"
            return BudgetSpent(f"of the budget of ${usd:g} ${used.usd:.4f} are spent, and {most}. {go_on}")
        if self.short:
            return BudgetSpent(f"what others have set aside leaves too little for the next request. {go_on}")
        return BudgetSpent(f"the budget of {self.limit} model calls is spent. {go_on}")

    def settle(self, held: int, cost: int, set_aside: Amount = NOTHING, used: Amount = NOTHING) -> None:
        """Give back `held` calls and what was set aside for them, and pay for those that were used."""
        self.held -= held
        self.spent += cost
        self.wallet.set_aside -= set_aside
        self.wallet.used += used
        self.used += used
        if cost and self._on_cost is not None:
            self._on_cost(cost)
        self._wake()

    def _wake(self) -> None:
        if self._waiting is not None:
            self._waiting.set()
            self._waiting = None


class Hold:
    """Calls set aside for the attempts of one request."""

    def __init__(self, budget: Budget, n: int, most: Amount = NOTHING) -> None:
        self.n = n
        """Samples to ask for."""
        self.attempts = 0
        """Requests sent."""
        self._budget = budget
        self._most = most
        self._open = False
        self._take()

    def start(self) -> None:
        """Count one more request, right before it is sent.

        Raises:
            BudgetSpent: it does not fit, or the budget was closed; nothing may be sent.
        """
        if not self.attempts and self._budget.closed:
            raise self._budget.refusal()
        if self.attempts:
            # The attempt before this one got no answer, or an error, which is paid for already.
            self._pay(self.n, self._most)
            left = self._budget.left
            if (left is not None and left < self.n) or not self._budget.fits(self._most):
                raise self._budget.refusal(self._most)
            self._take()
        self.attempts += 1

    def rejected(self) -> None:
        """Pay for an attempt that was answered with an error: one call, as no sample was made."""
        self._pay(1, NOTHING)

    def settle(self, arrived: int | None, used: Amount | None = None) -> None:
        """Pay for the last attempt. Later calls change nothing.

        Args:
            arrived: Samples that came; None when no answer did.
            used: What they used; None when the server did not say, which costs all that was set aside.
        """
        if not self.attempts:
            self._pay(0, NOTHING)
        elif arrived is None:
            self._pay(self.n, self._most)
        else:
            self._pay(max(arrived, 1), self._most if used is None else used)

    def _take(self) -> None:
        self._budget.held += self.n
        self._budget.wallet.set_aside += self._most
        self._open = True

    def _pay(self, cost: int, used: Amount) -> None:
        if self._open:
            self._open = False
            self._budget.settle(self.n, min(cost, self.n), self._most, used)
