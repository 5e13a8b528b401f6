"""The way to one model: how many requests are on it, and whether it still answers."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ModelFailed
from ..wire.values import Request
from . import attempts
from .budget import Hold
from .limits import Limits
from .model import Answer, Model, Unanswered


class Line:
    """Sends requests to one model. Belongs to one event loop."""

    def __init__(self, model: Model, concurrency: int) -> None:
        self.model = model
        self.limits = Limits(concurrency)
        self.requests = 0
        """Requests sent, retries included."""
        self.notes: list[str] = []
        """What the model said that a reader of the results has to know, once each."""
        self.dead: ModelFailed | None = None
        """Why nothing is sent any more."""

    async def send(self, request: Request, samples: Sequence[str], hold: Hold) -> Sequence[Answer]:
        """The answers to a request for as many samples as `samples` names, when there is room on the line.

        Raises:
            RequestRefused: as the model raises it.
            Unanswered: as the model raises it.
            ModelFailed: as the model raises it, and for every later request.
            BudgetSpent: a retry does not fit.
        """
        async with self.limits.slots:
            # Set for this task only: every request is sent by a task of its own.
            attempts.current.set(_Listener(self, hold, samples))
            await self.depart(hold)
            try:
                return await self.model.sample(request, len(samples))
            except Unanswered:
                raise
            except ModelFailed as error:
                self.dead = self.dead or error
                raise

    async def depart(self, hold: Hold) -> None:
        """Wait until one more request may be sent, and count it."""
        await self.limits.wait()
        if self.dead is not None:
            raise self.dead
        hold.start()
        self.requests += 1


class _Listener:
    """Hears of the attempts of one request."""

    def __init__(self, line: Line, hold: Hold, samples: Sequence[str]) -> None:
        self.samples = tuple(samples)
        self._line = line
        self._hold = hold
        self._departed = True
        """The first attempt was counted before the model was asked: most models announce none."""

    async def start(self) -> None:
        if self._departed:
            self._departed = False
        else:
            await self._line.depart(self._hold)

    def rejected(self, status: int, wait: float | None) -> None:
        self._hold.rejected()
        if status == 429:
            self._line.limits.slow_down(wait)

    def note(self, text: str) -> None:
        if text not in self._line.notes:
            self._line.notes.append(text)
