"""A file that only grows by whole lines, and only while it is still the file that was opened."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

from .writing_lock import hold

_FLAGS: Final = os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


class AppendFile:
    """One open file. Every method raises `OSError` when the system refuses; none writes into another file."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._identity = _identity(os.fstat(descriptor))
        hold(descriptor)
        self._torn = False
        """True when the file ends in a part of a line."""

    @classmethod
    def create(cls, path: Path) -> AppendFile:
        """A new file at `path`, or beside it with a number when there is one: `run-2.jsonl`. Mode 0600.

        Missing directories are made with mode 0700.

        Raises:
            OSError: it cannot be made, or `path` is something else than a file.
        """
        _make_directories(path.parent)
        for number in count(2):
            try:
                return cls(path, os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600))
            except FileExistsError:
                # A device or a directory was not meant as a name to count up from.
                if path.exists() and not stat.S_ISREG(path.stat().st_mode):
                    raise
            stem = path.stem if number == 2 else path.stem.rpartition("-")[0]
            path = path.with_name(f"{stem}-{number}{path.suffix}")
        raise AssertionError  # pragma: no cover  # count() does not end

    def write_line(self, line: bytes) -> None:
        """Append `line`, which ends in a newline, whole.

        Raises:
            OSError: it was not written; what had been written of it was taken back, or is closed by the next line.
        """
        before = self._ours()
        data = b"\n" + line if self._torn else line
        written = self._write(data)
        if written < len(data):
            self._write_rest(before.st_size, data, written)
        self._torn = False

    def sync(self) -> None:
        """Wait until everything written is on the disk."""
        self._ours()
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Give the descriptor back, unless it is somebody else's by now."""
        with suppress(OSError):
            if _identity(os.fstat(self._descriptor)) == self._identity:
                os.close(self._descriptor)
        self._descriptor = -1

    def is_at_its_path(self) -> bool:
        """False when the file was removed, renamed or replaced."""
        try:
            return _identity(self.path.lstat()) == self._identity
        except OSError:
            return False

    def _ours(self) -> os.stat_result:
        """The state of our file; it is opened again when the host closed our descriptor or re-used its number."""
        try:
            found = os.fstat(self._descriptor)
        except OSError:
            found = None
        if found is not None and _identity(found) == self._identity:
            return found
        # The old number is not closed: it is not ours any more.
        self._descriptor = os.open(self.path, _FLAGS)
        found = os.fstat(self._descriptor)
        if _identity(found) == self._identity:
            hold(self._descriptor)
            return found
        os.close(self._descriptor)
        self._descriptor = -1
        raise OSError(errno.ESTALE, "the file was replaced by another one", str(self.path))

    def _write_rest(self, start: int, data: bytes, written: int) -> None:
        left = memoryview(data)
        try:
            while written < len(data):
                written += self._write(left[written:])
        except OSError:
            self._take_back(start, written)
            raise

    def _write(self, data: bytes | memoryview) -> int:
        written = os.write(self._descriptor, data)
        if written == 0:
            raise OSError(errno.EIO, "nothing was written")
        return written

    def _take_back(self, start: int, written: int) -> None:
        """Cut off a part of a line, or note that one stands at the end of the file."""
        with suppress(OSError):
            if os.fstat(self._descriptor).st_size == start + written:
                os.ftruncate(self._descriptor, start)
                return
        self._torn = True


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _make_directories(folder: Path) -> None:
    missing = [part for part in (folder, *folder.parents) if not part.exists()]
    for part in reversed(missing):
        part.mkdir(mode=0o700, exist_ok=True)
