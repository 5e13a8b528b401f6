"""Replies of a folder that cannot be written.

They live in a database in memory that every cache of this process with the same folder shares: what one question paid
for, the next one finds. It goes when the process ends.
"""

from __future__ import annotations

import atexit
import sqlite3
from pathlib import Path

from ..canon import digest
from .rows import ReplyRows

_kept: dict[str, sqlite3.Connection] = {}
"""By address. SQLite forgets a database in memory with its last connection; these stay open."""


def shared_rows(folder: Path, lease: float) -> ReplyRows:
    """The replies in memory that belong to a folder; they are forgotten when nobody has them open, unless kept."""
    try:
        return ReplyRows(None, lease, _address(folder))
    except sqlite3.OperationalError:
        return ReplyRows(None, lease)  # SQLite before 3.36 has no such databases


def keep(folder: Path) -> None:
    """Remember the replies in memory that belong to a folder until the process ends."""
    address = _address(folder)
    if address not in _kept:
        try:
            _kept[address] = sqlite3.connect(address, uri=True, check_same_thread=False)
        except sqlite3.OperationalError:
            return
        atexit.register(_kept[address].close)


def _address(folder: Path) -> str:
    return f"file:/runtape-{digest(str(folder.absolute()))}?vfs=memdb"
