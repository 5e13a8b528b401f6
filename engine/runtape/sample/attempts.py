"""What a model tells the sampler about the HTTP requests it really sends.

An SDK retries by itself, so one `Model.sample` may put several requests on the wire. Each has to fit the budget and to
wait out a pause that the server asked of anybody. The sampler listens through a context variable, because the
SDK calls back from deep inside its own retry loop, in the task that asked.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Protocol

from ..said import Said


class Attempts(Protocol):
    """Listens to the attempts of one `Model.sample`."""

    samples: tuple[str, ...]
    """Names of the samples being drawn, such as `pool#3`: the same sample has the same name in every run."""

    async def start(self) -> None:
        """Wait for the moment to send the next attempt.

        Raises:
            BudgetSpent: one more attempt does not fit; do not send it.
            ModelFailed: the server failed another request for good; do not send it.
        """
        ...

    def rejected(self, status: int, wait: float | None) -> None:
        """Tell that an attempt was answered with an error; `wait` is the pause it asked for, in seconds."""
        ...

    def note(self, text: Said) -> None:
        """Add something the reader of the result has to know."""
        ...


class Unheard:
    """Nobody listens: the model is used without a sampler."""

    samples: tuple[str, ...] = ()

    async def start(self) -> None:
        """Send at once."""

    def rejected(self, status: int, wait: float | None) -> None:
        """Leave the pause to the SDK."""

    def note(self, text: Said) -> None:
        """Drop the note."""


current: ContextVar[Attempts] = ContextVar("attempts", default=Unheard())  # noqa: B039 - stateless
"""The listener of the running task."""
