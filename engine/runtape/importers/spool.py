"""Records of a big file put into groups and an order, on the disk."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from ..canon import dumps, loads
from ..wire.values import JsonObject


class Spool:
    """A temporary file of records; a context manager that removes it."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="runtape-import-")
        self._base = sqlite3.connect(Path(self._folder.name) / "spool", isolation_level=None)
        self._base.execute("PRAGMA journal_mode = OFF")
        self._base.execute("PRAGMA synchronous = OFF")
        self._base.execute("CREATE TABLE record (team TEXT, at REAL, value BLOB)")
        self._base.execute("BEGIN")

    def __enter__(self) -> Spool:  # noqa: PYI034 -- Self is of Python 3.11
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._base.close()
        self._folder.cleanup()

    def add(self, group: str, at: float, value: JsonObject) -> None:
        """Keep a record of a group; `at` is its place in the order of the group, equal ones stay as added."""
        named = group.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        self._base.execute("INSERT INTO record VALUES (?, ?, ?)", (named, at, dumps(value)))

    def groups(self) -> Iterator[tuple[str, Iterator[JsonObject]]]:
        """Every group in the order in which the first of its records was added, and its records in order."""
        self._base.execute("CREATE INDEX by_team ON record (team, at)")
        names = self._base.execute("SELECT team FROM record GROUP BY team ORDER BY min(rowid)").fetchall()
        for (name,) in names:
            yield str(name), self._records(str(name))

    def _records(self, name: str) -> Iterator[JsonObject]:
        rows = self._base.execute("SELECT value FROM record WHERE team = ? ORDER BY at, rowid", (name,))
        for (data,) in rows:
            value = loads(data)
            if isinstance(value, dict):
                yield value
