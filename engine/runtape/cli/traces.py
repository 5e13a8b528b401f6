"""Which trace a command means."""

from __future__ import annotations

import os
from pathlib import Path

from ..trace.store import Store
from ..trace.trace import Trace


def trace_folder() -> Path:
    """Where runs are recorded: $RUNTAPE_DIR, else `traces` in the working folder."""
    return Path(os.environ.get("RUNTAPE_DIR") or "traces")


def find(name: str) -> Path:
    """The file of a trace given by path, by name in the trace folder, or as `last`.

    Raises:
        TraceNotFound: there is none; the message names the nearest.
    """
    path = Path(name)
    return path if path.is_file() else Store(trace_folder()).find(name)


def load(name: str) -> Trace:
    """The trace that a command means, read.

    Raises:
        TraceNotFound: there is none; the message names the nearest.
        TraceUnreadable: the file holds no event.
    """
    return Trace.load(find(name))
