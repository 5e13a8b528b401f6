"""The traces of a launch, read on demand."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import anyio.to_thread

from runtape.errors import BadInput, RuntapeError
from runtape.trace.store import Store
from runtape.trace.summary import Summary
from runtape.trace.trace import Trace

from .foreign import Foreign, foreign_files
from .paths import chosen, public_name

READ = 4
"""Traces kept in memory."""

_Stamp: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Entry:
    """One trace of the folder."""

    name: str
    path: Path
    size: int
    """Bytes."""


class Library:
    """Finds traces by name and reads them, in worker threads; a trace that did not change is read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._one_at_a_time = threading.Lock()
        """Held while `_traces` is used: calls read in worker threads, and one trace is not to be read twice."""
        self._traces: OrderedDict[Path, tuple[_Stamp, Trace]] = OrderedDict()
        self._summaries: dict[Path, tuple[_Stamp, Summary | None]] = {}
        self._digests: dict[Path, tuple[_Stamp, str]] = {}

    async def find(self, name: str) -> Path:
        """The file of a trace by name, or the newest for `last`.

        Raises:
            TraceNotFound: there is none; the text names the nearest.
        """
        return await anyio.to_thread.run_sync(lambda: chosen(name, self._files()))

    async def entries(self) -> list[Entry]:
        """The traces, newest first; nothing of them is read."""
        return await anyio.to_thread.run_sync(self._entries)

    async def names(self) -> list[str]:
        """The names of the traces, newest first."""
        return [entry.name for entry in await self.entries()]

    async def load(self, path: Path) -> Trace:
        """The trace in a file.

        Raises:
            TraceUnreadable: it holds no readable event.
        """
        return await anyio.to_thread.run_sync(self._load, path)

    async def summary(self, entry: Entry) -> Summary | None:
        """What a trace holds; None when it cannot be read."""
        return await anyio.to_thread.run_sync(self._summary, entry.path)

    async def foreign(self) -> list[Foreign]:
        """Files of the folder that another tool recorded, by their beginnings, newest first."""
        return await anyio.to_thread.run_sync(self._foreign)

    async def digest(self, path: Path) -> str:
        """A digest of the file's content."""
        return await anyio.to_thread.run_sync(self._digest, path)

    async def reference(self, text: str, trace: Path) -> tuple[Path, str]:
        """The decision that `EVENT` of this trace, or `TRACE:EVENT`, means.

        Raises:
            TraceNotFound: there is no trace of that name.
            BadInput: it is of neither form.
        """
        name, colon, event = text.partition(":")
        if not colon or name == "tool":
            name, event = "", text
        if not event:
            raise BadInput(f"the control {text[:100]!r} names no event; write EVENT or TRACE:EVENT")
        path = await self.find(name) if name else trace
        return path, event

    def _files(self) -> list[Path]:
        return [row.path for row in Store(self.folder).listing()]

    def _entries(self) -> list[Entry]:
        rows = Store(self.folder).listing()
        return [Entry(public_name(row.path), row.path, row.size) for row in rows]

    def _load(self, path: Path) -> Trace:
        with self._one_at_a_time:
            stamp = _stamp(path)
            known = self._traces.pop(path, None)
            trace = known[1] if known is not None and known[0] == stamp else Trace.load(path)
            self._traces[path] = (stamp, trace)
            while len(self._traces) > READ:
                self._traces.popitem(last=False)
            return trace

    def _summary(self, path: Path) -> Summary | None:
        try:
            stamp = _stamp(path)
            known = self._summaries.get(path)
            ongoing = known is not None and known[1] is not None and known[1].status == "recording"
            if known is None or known[0] != stamp or ongoing:  # a writer that is killed changes no file
                known = self._summaries[path] = (stamp, self._read_summary(path))
        except OSError:
            return None
        return known[1]

    def _read_summary(self, path: Path) -> Summary | None:
        try:
            return Trace.load(path).summary()
        except RuntapeError:
            return None

    def _foreign(self) -> list[Foreign]:
        return foreign_files(self.folder, {path for path, known in self._summaries.items() if known[1] is None})

    def _digest(self, path: Path) -> str:
        stamp = _stamp(path)
        known = self._digests.get(path)
        if known is None or known[0] != stamp:
            digest = hashlib.sha256()
            with path.open("rb") as file:
                for chunk in iter(partial(file.read, 1 << 20), b""):
                    digest.update(chunk)
            known = self._digests[path] = (stamp, digest.hexdigest())
        return known[1]


def _stamp(path: Path) -> _Stamp:
    status = path.stat()
    return status.st_mtime_ns, status.st_size
