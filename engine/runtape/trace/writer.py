"""The trace file of one run, written while the run goes on.

One event is one `os.write` of one whole line, so a killed process leaves at most one torn line, the last. Nothing
here raises into the host program: an event that cannot be written is dropped and counted, and a `gap` event tells of
the dropped ones once writing works again. Writes are direct, without a thread: a disk that stalls holds the caller, on
an event loop too. The disk is waited for twice only, after an `error` event and at the end, and on an event loop by a
thread of its own.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections import deque
from contextlib import suppress
from pathlib import Path

from ..wire.values import JsonObject
from .appendfile import AppendFile
from .events import VERSION, Event
from .lines import line_of
from .syncing import on_event_loop, sync_beside


class Writer:
    """Gives events their numbers and appends them. For many threads; a forked child goes on in a file of its own."""

    path: Path
    """The file written; its name holds a number when the one asked for was taken."""
    error: Exception | None
    """What went wrong last; None while all is well."""
    lost: int
    """Events dropped so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.error = None
        self.lost = 0
        self._file: AppendFile | None = None
        self._pid = os.getpid()
        # Re-entrant, with a queue: a finalizer or a signal handler may record while this thread is writing.
        self._lock = threading.RLock()
        self._waiting: deque[Event] = deque()
        self._writing = False
        self._next = 0
        self._end: int | None = None
        """Number of the `run_end`: what other threads record behind it is part of no run."""
        self._absent: list[range] = []
        """Numbers of the events dropped, in order."""
        self._gap_open = False
        """True when the last of them are not yet told of in the file."""
        self._warned = False
        self._start: JsonObject = {"format": "runtape", "version": VERSION}
        _WRITERS.add(self)

    @classmethod
    def create(cls, path: Path) -> Writer:
        """A writer of a new file at `path`, or beside it with a number when there is one: `run-2.jsonl`.

        The file gets mode 0600, directories that are missing 0700. When no file can be made, `error` says why and
        every event is dropped.
        """
        writer = cls(path)
        writer._open(path)
        return writer

    @property
    def forked(self) -> bool:
        """True in a child process that has recorded nothing yet: the file, and the end of the run, are its parent's."""
        return self._pid != os.getpid()

    def append(
        self,
        type: str,
        payload: JsonObject,
        *,
        meta: JsonObject | None = None,
        parent: int | None = None,
        ts: float | None = None,
    ) -> int:
        """Write an event; its number, written or not.

        Numbers rise in file order. `ts` is when it happened, in seconds since the epoch: now, unless told.
        `payload` must not be changed afterwards. Never raises an `Exception`.
        """
        with self._lock:
            if self._end is not None:
                self._next += 1
                return self._next - 1
            forked = self.forked
            if forked and type != "run_end":  # the end of the run is the parent's to tell
                self._go_on_in_a_segment()
                forked = self.forked
            number = self._next
            self._next += 1
            if forked:
                self._absent.append(range(number, number + 1))
                return number
            if type == "run_start":
                self._start = payload
            elif type == "run_end":
                self._end = number
            self._waiting.append(Event(number, time.time() if ts is None else ts, type, payload, meta or {}, parent))
            if not self._writing:
                self._write_waiting()
        if type == "error":
            self.sync()
        return number

    def acknowledged(self, event: int) -> bool:
        """True when the event of this number has been written whole (texts over the limit cut)."""
        written = self._next if self._end is None else self._end + 1
        return 0 <= event < written and not any(event in numbers for numbers in self._absent)

    def sync(self) -> None:
        """Wait until everything written is on the disk; on an event loop, let a thread wait."""
        file = self._file
        if file is None or self.forked:
            return
        if on_event_loop():
            sync_beside(file.path)
            return
        with suppress(OSError):
            file.sync()

    def close(self) -> None:
        """Tell of dropped events, wait for the disk and close the file; later events are dropped."""
        if self._file is None or self.forked:
            return
        self.sync()
        with self._lock:
            file, self._file = self._file, None
            if self._gap_open:
                with suppress(OSError):
                    file.write_line(line_of(self._gap()))
            if not file.is_at_its_path():
                self._trouble(FileNotFoundError("it was removed, renamed or replaced during the run"))
            file.close()

    def unlock(self) -> None:
        """Make the writer usable in a child just forked, where a lock held by another thread is never released."""
        self._lock = threading.RLock()
        self._waiting.clear()
        self._writing = False

    def _open(self, path: Path) -> None:
        try:
            self._file = AppendFile.create(path)
            self.path = self._file.path
        except OSError as error:
            self._trouble(error)

    def _write_waiting(self) -> None:
        self._writing = True
        try:
            while self._waiting:
                event = self._waiting.popleft()
                try:
                    self._write(event)
                except Exception as error:  # noqa: BLE001 -- the promise to the host: recording never raises
                    self._lose(event.id, error)
        finally:
            self._writing = False

    def _write(self, event: Event) -> None:
        if self._file is None:
            self._absent_too(event.id)
            return
        line = line_of(event)
        if self._gap_open:
            self._file.write_line(line_of(self._gap()))
            self._gap_open = False
        self._file.write_line(line)

    def _gap(self) -> Event:
        """The event that tells of the dropped ones; it takes the first one's number, so that numbers rise."""
        numbers = self._absent[-1]
        payload: JsonObject = {
            "lost": len(numbers),
            "first": numbers[0],
            "last": numbers[-1],
            "reason": str(self.error),
        }
        return Event(numbers[0], time.time(), "gap", payload)

    def _lose(self, event: int, error: Exception) -> None:
        self._absent_too(event)
        self._trouble(error)

    def _absent_too(self, event: int) -> None:
        self.lost += 1
        if self._gap_open:
            self._absent[-1] = range(self._absent[-1].start, event + 1)
        else:
            self._absent.append(range(event, event + 1))
            self._gap_open = True

    def _trouble(self, error: Exception) -> None:
        self.error = error
        if not self._warned:
            self._warned = True
            with suppress(Exception):  # standard error may be closed
                print(f"runtape: {self.path} is not recorded completely: {error}", file=sys.stderr)

    def _go_on_in_a_segment(self) -> None:
        """Leave the parent's file alone, and begin one that names it."""
        self._pid = os.getpid()
        if self._file is None:
            return
        parent = self.path
        self._file.close()
        self._file, self._gap_open, self._absent, self.lost, self._warned = None, False, [], 0, False
        self._open(parent.with_name(f"{parent.stem}.{self._pid}{parent.suffix}"))
        start: JsonObject = {**self._start, "segment_of": parent.name, "pid": self._pid}
        self._waiting.append(Event(self._next, time.time(), "run_start", start))
        self._next += 1
        self._write_waiting()


_WRITERS: weakref.WeakSet[Writer] = weakref.WeakSet()


def _unlock_in_child() -> None:
    for writer in list(_WRITERS):
        writer.unlock()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_unlock_in_child)
