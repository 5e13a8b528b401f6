"""When a run began, from the first line of its file alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from .. import canon

_HEAD: Final = 4096
"""Bytes read of a file: a `run_start` is shorter, and of a longer line the time stands at the beginning."""
_TIME: Final = re.compile(rb'\s*\{"id":\s*\d+,\s*"ts":\s*(\d+(?:\.\d+)?)')
_LATEST: Final = 1e11
"""Seconds since the epoch; beyond it a number is no time in seconds."""


def start_of(path: Path) -> float | None:
    """Seconds since the epoch of the first event; None when its line has no time or cannot be read."""
    try:
        with path.open("rb", buffering=0) as file:
            head = file.read(_HEAD)
    except (OSError, ValueError):
        return None
    found = _TIME.match(head)
    time = float(found[1]) if found else _time_in(head.partition(b"\n")[0])
    return time if time is not None and 0 < time < _LATEST else None


def _time_in(line: bytes) -> float | None:
    try:
        event = canon.loads(line)
    except ValueError:
        return None
    time = event.get("ts") if isinstance(event, dict) else None
    return float(time) if isinstance(time, (int, float)) and not isinstance(time, bool) else None
