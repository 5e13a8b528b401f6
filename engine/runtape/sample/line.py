"""The way to one model: how many requests are on it, and whether it still answers."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from ..errors import ModelFailed
from ..said import Said
from ..wire.values import Request
from . import attempts
from .batch_model import WAVE, BatchModel
from .budget import Hold
from .http_models import HttpModel
from .limits import Limits
from .model import Answer, Model, Unanswered
from .serial import NOTE, Pacing


class Line:
    """Sends requests to one model. Belongs to one event loop."""

    def __init__(self, model: Model, concurrency: int) -> None:
        self.model = model
        self.in_waves = isinstance(model, BatchModel)
        """True where requests are answered a wave at a time, which takes hours, not one by one."""
        self.limits = Limits(WAVE if self.in_waves else concurrency)
        self.requests = 0
        """Requests sent, retries included."""
        self.notes: list[Said] = []
        """What the model said that a reader of the results has to know, once each."""
        self._local = isinstance(model, HttpModel) and model.local and not self.in_waves
        self._pacing = Pacing()
        self._took: list[float] = []
        """Seconds of the requests of the wave so far."""
        self.dead: ModelFailed | None = None
        """Why nothing is sent any more."""

    def kept(self, request: Request, answers: Sequence[Answer]) -> None:
        """Take in what an earlier run kept of the model's answers to a request: sent again, it is no new sample."""
        if isinstance(self.model, HttpModel):
            self.model.repeats.kept(request, [answer.reply for answer in answers if answer.reply is not None])

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
            listener = _Listener(self, hold, samples)
            attempts.current.set(listener)
            await self.depart(hold)
            try:
                answers = await self.model.sample(request, len(samples))
            except Unanswered:
                raise
            except ModelFailed as error:
                self.dead = self.dead or error
                raise
            self._took.append(anyio.current_time() - listener.sent_at)
            return answers

    def wave_over(self, requests: int, started: float) -> bool:
        """Take in that a wave of requests is answered; True when it shows that the server takes turns.

        `started` is when it began, on the event loop's clock.
        """
        took, self._took = self._took, []
        # Pauses and errors make times that say nothing about the server's own.
        if not self._local or len(took) < requests or self.limits.slowed_since(started):
            return False
        if not self._pacing.queues(took):
            return False
        self.take_turns()
        return True

    def take_turns(self) -> None:
        """Send one request at a time from now on."""
        self.limits.hold_at(1)
        self._local = False  # found out: that is done once
        self.notes.append(NOTE)

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
        self.sent_at = anyio.current_time()
        """When the last attempt left; a model that announces none has no more to do before."""

    async def start(self) -> None:
        if self._departed:
            self._departed = False
        else:
            await self._line.depart(self._hold)
        self.sent_at = anyio.current_time()

    def rejected(self, status: int, wait: float | None) -> None:
        self._hold.rejected()
        if status == 429:
            self._line.limits.slow_down(wait)

    def note(self, text: Said) -> None:
        if text not in self._line.notes:
            self._line.notes.append(text)
