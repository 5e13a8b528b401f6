"""What a sampler is asked for, and which samples of it are still missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..wire.values import Request
from .model import Answer


def is_readable(answer: Answer) -> bool:
    """True when there is a reply at all."""
    return answer.reply is not None


@dataclass(frozen=True, slots=True)
class Ask:
    """Have at least `n` counting answers to `request` in `series`."""

    request: Request
    series: str
    n: int
    counts: Callable[[Answer], bool] = is_readable
    """Whether an answer is a sample at all; for one that is not (cut, filtered, unreadable) another is drawn."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """The answers to one ask."""

    answers: tuple[Answer, ...]
    """In the order of the series, up to the n-th that counts; fewer count when replacements ran out."""
    broken: str | None = None
    """Why this request cannot be sampled; None when it can."""


@dataclass(frozen=True, slots=True)
class Look:
    """An ask compared with the answers that are there."""

    answers: tuple[Answer, ...]
    missing: tuple[int, ...]
    """Numbers of the samples to draw now; empty when the ask is answered, as far as it can be."""


def replacements(n: int) -> int:
    """How many answers that do not count are replaced: a model that is always cut short must not cost for ever."""
    return 2 + n // 4


def look(ask: Ask, there: Mapping[int, Answer]) -> Look:
    """What is there for an ask, and what is missing.

    Always the first numbers of the series, whatever else was drawn before: an ask gets the same answers in every run.
    """
    answers: list[Answer] = []
    missing: list[int] = []
    counting = 0
    for number in range(ask.n + replacements(ask.n)):
        if counting == ask.n:
            break
        answer = there.get(number)
        if answer is None:
            missing.append(number)
            counting += 1
        else:
            answers.append(answer)
            counting += ask.counts(answer)
    return Look(tuple(answers), tuple(missing))
