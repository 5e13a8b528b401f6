"""When a run began, as the name of its file tells: recorded and imported runs are named by it."""

from __future__ import annotations

import re
import time
from typing import Final

_NAMED: Final = re.compile(r"-(\d{8}-\d{6})-[0-9a-f]{6}(?:[.-]\d+)?")
"""The end of a name: the time, what makes it unique, and the number of a process or of a file beside another one."""


def start_in(name: str) -> float | None:
    """Seconds since the epoch, whole ones; None when the name of the trace does not tell."""
    found = _NAMED.search(name)
    if found is None or found.end() != len(name):
        return None
    try:
        return time.mktime(time.strptime(found[1], "%Y%m%d-%H%M%S"))  # local, as a person reads it
    except (ValueError, OverflowError):  # no day of the calendar
        return None
