"""What a test session says about every rerun that its tests make, and what they cost so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

# The pytest plugin imports this module in every session, whether its tests rerun anything or not.
if TYPE_CHECKING:
    from ..report.distribution import Distribution
    from ..sample.budget import Budget
    from .asking import Asking


class Session:
    """One test session. From `begin` to its end, `rerun` asks as it says."""

    def __init__(
        self,
        *,
        runs: int | None = None,
        model: str | None = None,
        base_url: str | None = None,
        budget: int | None = None,
        before: Callable[[], None] | None = None,
    ) -> None:
        """A session that has cost nothing yet.

        Args:
            runs: In place of the runs that a test names.
            model: The model function of tests that name none.
            base_url: The server of tests that name none.
            budget: Most model calls of all tests together; None for no limit.
            before: Called before each rerun; what it raises, the test raises.
        """
        self.runs = runs
        self.model = model
        self.base_url = base_url
        self.before = before
        self.calls = 0
        """Model calls paid for."""
        self.seen: list[Distribution] = []
        """What each rerun came to, in order."""
        self._budget = budget
        self._purses: list[Budget] = []

    @property
    def usd(self) -> float:
        """US dollars paid, as far as prices are known."""
        return sum(purse.used.usd for purse in self._purses)

    def begun(self, asking: Asking) -> Asking:
        """How one rerun asks: as its test says, and by what the session has left; raises as `before` does."""
        from ..sample.budget import Budget

        if self.before is not None:
            self.before()
        left = None if self._budget is None else max(0, self._budget - self.calls)
        limits = [limit for limit in (asking.budget, left) if limit is not None]
        purse = Budget(min(limits, default=None), asking.ceiling, on_cost=self._pay)
        self._purses.append(purse)
        return replace(asking, model=asking.model or self.model, base_url=asking.base_url or self.base_url, purse=purse)

    def _pay(self, calls: int) -> None:
        self.calls += calls


_sessions: list[Session] = []


def begin(session: Session) -> Callable[[], None]:
    """Let `session` speak for every rerun of this process from now on; returns what ends that."""
    _sessions.append(session)
    return lambda: _sessions.remove(session)


def current() -> Session | None:
    """The session that speaks for reruns now."""
    return _sessions[-1] if _sessions else None
