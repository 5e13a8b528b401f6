"""Who waits for which answers of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio

from ..errors import ModelFailed
from ..wire.values import JsonObject
from .batch_service import error_body
from .failures import Exchange
from .model import RequestRefused, Unanswered
from .rows import Sample


@dataclass(eq=False, slots=True)
class Awaited:
    """One request that somebody waits for."""

    body: JsonObject
    samples: list[Sample]
    done: anyio.Event = field(default_factory=anyio.Event)
    result: Exchange | RequestRefused | ModelFailed | None = None
    places: Sequence[int] = ()
    """Which of the answers to the request are wanted; all when empty."""

    def end(self, result: Exchange | RequestRefused | ModelFailed) -> None:
        """Hand out what came of it; later results change nothing."""
        if self.result is None:
            self.result = result
            self.done.set()


@dataclass(eq=False, slots=True)
class OpenBatch:
    """A batch that was submitted, as far as that is known."""

    name: str
    waiting: dict[str, list[Awaited]]
    """Who waits for each of its requests, by `custom_id`."""
    remotes: list[str]
    """What the server may call it, the next to look at first; several only where its submission was not confirmed."""
    at: float
    """When it was submitted, in seconds since 1970."""
    confirmed: bool = True

    @property
    def asked(self) -> list[Awaited]:
        """Everybody who waits for it."""
        return [asked for each in self.waiting.values() for asked in each]


def not_all(remote: str, came: int, done: int) -> Unanswered:
    """What becomes of a request whose result did not come, though the server has done it: it stays in its batch."""
    return Unanswered(
        f"{came} of {done} results of the batch {remote} came back readable. Ask again later: the others are fetched "
        "then, and paid for once"
    )


def not_run(remote: str) -> Exchange:
    """What a request is taken to be answered with that a batch ended without."""
    message = f"the batch {remote} ended without this request, or its results are kept no more"
    return Exchange(408, {}, error_body(message, None))
