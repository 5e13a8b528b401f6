"""Which trace is meant by what a person wrote."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from ..errors import TraceNotFound
from .store import Store

FOLDER: Final = "RUNTAPE_DIR"
"""Environment variable naming the folder for traces; `./traces` without it."""


def trace_folder() -> Path:
    """Where runs are recorded and looked for."""
    return Path(os.environ.get(FOLDER) or "traces")


def find_trace(trace: str | os.PathLike[str]) -> Path:
    """The file of a trace given by path, by name in the trace folder, or as `last`, the newest there.

    What is written as a path is one: a missing file is not looked for by name elsewhere.

    Raises:
        TraceNotFound: there is none.
    """
    name = os.fspath(trace)
    path = Path(name)
    try:
        if path.is_file() or (path.name != name and path.exists()):
            return path
    except (OSError, ValueError):  # a name too long for the system, a zero byte: no file is called so
        pass
    if path.name != name:
        raise TraceNotFound(f"there is no trace at {name!r}; `runtape ls` lists those that exist")
    return Store(trace_folder()).find(name)
