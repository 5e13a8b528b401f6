"""The input that a `why` is billed, in units of the recorded context, under three price models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .server import Served

CACHED = 0.1
"""Price of input that is read from a prompt cache, of its full price."""


@dataclass(frozen=True)
class Billed:
    """Contexts paid for."""

    every_sample: float
    """The input is billed once for every answer."""
    every_request: float
    """The input is billed once for every request, however many answers it brings."""
    cached_prefix: float
    """As `every_request`; and the longest beginning that an answered request had as well costs a tenth."""


def billed(served: Sequence[Served], context: str) -> Billed:
    """What some requests are billed; `context` is the text of the recorded one."""
    unit = len(context)
    return Billed(
        sum(len(one.text) * one.samples for one in served) / unit,
        sum(len(one.text) for one in served) / unit,
        sum(_with_cache(one, served) for one in served) / unit,
    )


def _with_cache(one: Served, served: Sequence[Served]) -> float:
    before = [other.text for other in served if other.answered < one.arrived]
    shared = max((_shared(one.text, text) for text in before), default=0)
    return len(one.text) - (1 - CACHED) * shared


def _shared(one: str, other: str) -> int:
    """Characters at the beginning that both have."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one.startswith(other[:middle]) else (low, middle - 1)
    return low
