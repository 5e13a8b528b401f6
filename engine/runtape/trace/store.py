"""The folder that traces are kept in."""

from __future__ import annotations

import difflib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..errors import TraceNotFound
from ..text import shorten, visible
from .started import start_in
from .summary import Summary
from .trace import Trace

SUFFIX: Final = ".jsonl"
LAST: Final = "last"

_NAMED: Final = 3
_COMPARED: Final = 2_000
"""Newest names that a misspelled one is compared with."""
_REFUSED: Final = ("\0", "/", os.sep)
"""What only a path has in it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One trace of a listing, known from its directory entry alone."""

    name: str
    """The file's name without `.jsonl`."""
    path: Path
    size: int
    """Bytes."""
    started: float
    """Seconds since the epoch: when the run began, where its name tells; else when the file was last changed."""
    modified: float
    """Seconds since the epoch."""

    def summary(self) -> Summary:
        """The run at a glance; reads the file.

        Raises:
            TraceNotFound: it has been removed.
            TraceUnreadable: it holds no usable event.
        """
        return Trace.load(self.path).summary()


class Store:
    """Traces by name. Names may come from anyone: only files in the folder are found, whatever links stand in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def listing(self) -> list[Row]:
        """Every trace, newest run first. Empty files and links that lead out of the folder are no traces."""
        rows: list[Row] = []
        try:
            with os.scandir(self.folder) as entries:
                rows.extend(row for entry in entries if (row := self._row(entry)) is not None)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return []
        return sorted(rows, key=lambda row: (-row.started, -row.modified, row.name))

    def find(self, name: str) -> Path:
        """The file of a trace by name, with or without `.jsonl`; `last` is the one that began last.

        The beginning of a name will do where only one trace has it.

        Raises:
            TraceNotFound: there is none, or the name is a path; the message says which names are near.
        """
        if name == LAST:
            rows = self.listing()
            if not rows:
                raise TraceNotFound(f"there are no traces in {str(self.folder)!r} yet; record a run first")
            return rows[0].path
        if not name or any(part in name for part in _REFUSED) or name.startswith("."):
            raise TraceNotFound(f"{_quoted(name)} is not the name of a trace; `runtape ls` lists those that exist")
        for candidate in dict.fromkeys((name if name.endswith(SUFFIX) else name + SUFFIX, name + SUFFIX)):
            path = self.folder / candidate
            if self._is_inside(path):
                return path
        begun = [row for row in self.listing() if row.name.startswith(name)]
        if len(begun) == 1:
            return begun[0].path
        raise TraceNotFound(f"there is no trace {_quoted(name)}; {self._nearest(name)}")

    def _row(self, entry: os.DirEntry[str]) -> Row | None:
        if not entry.name.endswith(SUFFIX) or entry.name.startswith("."):
            return None
        try:
            found = entry.stat()  # of what a link leads to
            path = self.folder / entry.name
            if (
                not stat.S_ISREG(found.st_mode)
                or found.st_size == 0
                or (entry.is_symlink() and not self._is_inside(path))
            ):
                return None
        except OSError:
            return None
        name = entry.name.removesuffix(SUFFIX)
        return Row(name, path, found.st_size, start_in(name) or found.st_mtime, found.st_mtime)

    def _is_inside(self, path: Path) -> bool:
        # Compared by component, after links: `traces-evil` begins like `traces` and is another folder.
        try:
            return path.is_file() and path.resolve().is_relative_to(self.folder.resolve())
        except (OSError, ValueError, RuntimeError):  # a name too long for the system; a circle of links
            return False

    def _nearest(self, name: str) -> str:
        names = [row.name for row in self.listing()[:_COMPARED]]
        if not names:
            return "the folder holds no traces yet; record a run first"
        wanted = name.removesuffix(SUFFIX).lower()
        near = [other for other in names if wanted in other.lower()][:_NAMED]
        near = near or difflib.get_close_matches(wanted, names, n=_NAMED, cutoff=0.5)
        kind = "the nearest names are" if near else "the newest are"
        return f"{kind} {', '.join(map(_quoted, near or names[:_NAMED]))}"


def _quoted(name: str) -> str:
    return repr(shorten(visible(name), 120))
