"""When what was written is waited for until it is on the disk."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from pathlib import Path


def on_event_loop() -> bool:
    """Whether this thread runs an event loop of asyncio or trio right now, told without importing either."""
    asyncio, sniffio = sys.modules.get("asyncio"), sys.modules.get("sniffio")
    if asyncio is not None and asyncio._get_running_loop() is not None:  # noqa: SLF001 -- `get_running_loop` raises
        return True
    return sniffio is not None and sniffio.thread_local.name is not None


def sync_beside(path: Path) -> None:
    """Bring the file at `path` to the disk in a thread that the interpreter waits for when it ends."""
    with suppress(RuntimeError):  # the interpreter ends already: no thread can be started, and the system writes soon
        threading.Thread(target=_sync, args=(path,), name="runtape-sync").start()


def _sync(path: Path) -> None:
    with suppress(OSError), path.open("r+b") as file:
        os.fsync(file.fileno())
