"""Times as recordings spell them."""

from __future__ import annotations

import math
from datetime import datetime, timezone
from typing import Final

from ..wire.values import Json

_MILLISECONDS_FROM: Final = 1e11
"""Epoch seconds stay below it until the year 5138; milliseconds have been above it since 1973."""


def seconds(value: Json) -> float | None:
    """Seconds since the epoch; `value` is ISO 8601 text, or epoch seconds or milliseconds.

    A text without a time zone is read as UTC. None when it is no time.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        number = float(value) if abs(value) < _MILLISECONDS_FROM**2 else math.nan
        if not math.isfinite(number):
            return None
        return number / 1000 if abs(number) >= _MILLISECONDS_FROM else number
    return _of_text(value) if isinstance(value, str) else None


def elapsed_ms(started: float | None, ended: float | None) -> float | None:
    """Milliseconds between two times; None when one is unknown or they are in the wrong order."""
    if started is None or ended is None or ended < started:
        return None
    return round((ended - started) * 1000, 3)


def _of_text(text: str) -> float | None:
    spelled = text.strip()
    if spelled[-1:] in {"Z", "z"}:  # not read by Python 3.10
        spelled = f"{spelled[:-1]}+00:00"
    head, dot, tail = spelled.partition(".")
    if dot:
        digits = len(tail) - len(tail.lstrip("0123456789"))
        spelled = f"{head}.{tail[:digits][:6].ljust(6, '0')}{tail[digits:]}"
    try:
        moment = datetime.fromisoformat(spelled)
        return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
