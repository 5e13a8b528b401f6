"""The reply cache as a thing of its own: what is in it, what may go, and how it gets to others."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .. import canon
from ..errors import BadInput
from ..wire.values import Json
from . import answer_json
from .cache import FILE, FORMAT
from .rows import ReplyRows

DAY = 86_400.0
"""Seconds."""

TAKE_IN = "INSERT OR IGNORE INTO replies (key, series, sample, answer, paid_by, at) VALUES (?, ?, ?, ?, '', ?)"

WANTED = "Pass a file that `runtape cache export` wrote."


@dataclass(frozen=True, slots=True)
class Group:
    """The replies of one model."""

    asked: str
    """Who was asked: the API and its address, or the model function."""
    model: str
    replies: int
    size: int
    """Characters of the replies."""
    oldest: float
    """Seconds since 1970."""
    newest: float


@dataclass(frozen=True, slots=True)
class Waiting:
    """A batch whose answers are still to be taken."""

    name: str
    """Ours; by it the next run finds the batch at the server."""
    remote: str | None
    """The server's; None until it confirmed the batch."""
    requests: int
    samples: int
    """Answers still to come."""
    submitted: float
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of an import."""

    added: int
    known: int
    """Replies that were there already; they stay as they were."""
    unreadable: int
    """Lines that hold no reply."""


class KeptReplies(ReplyRows):
    """The database of one cache folder, opened to be looked at or changed."""

    def __init__(self, folder: Path) -> None:
        """Open it.

        Raises:
            BadInput: there is none, or it cannot be read.
        """
        self.path = folder / FILE
        if not self.path.is_file():
            raise BadInput(
                f"there is no reply cache in {str(folder)!r}. Replies are kept in .runtape of the folder that a "
                "command was run in; --dir names another."
            )
        try:
            super().__init__(self.path, lease=0.0)
        except (sqlite3.Error, OSError) as error:
            raise BadInput(f"the reply cache in {str(folder)!r} cannot be opened: {error}.") from error

    @property
    def size(self) -> int:
        """Bytes on disk."""
        files = (self.path.with_name(self.path.name + tail) for tail in ("", "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def groups(self) -> list[Group]:
        """The replies by who was asked for what model, most first."""
        found = self._db.execute(
            "SELECT coalesce(identity, '(kept before names were)'), coalesce(model, ''), count(*), "
            "sum(length(answer)), min(at), max(at) FROM replies LEFT JOIN asked USING (key) "
            "GROUP BY identity, model ORDER BY count(*) DESC, identity, model"
        )
        return [Group(*row) for row in found]

    def batches(self) -> list[Waiting]:
        """The batches whose answers are still to be taken, oldest first."""
        found = self._db.execute(
            "SELECT batch, remote, requests, count(*), at FROM batches JOIN in_batch USING (batch) "
            "GROUP BY batch ORDER BY at, batch"
        )
        return [Waiting(*row) for row in found]

    def prune(self, *, before: float | None, most: int | None) -> int:
        """Forget replies; returns how many.

        Args:
            before: Those that arrived before this time, in seconds since 1970.
            most: The oldest ones, until the others have at most so many bytes of text.
        """
        total = self._count()
        with self._transaction():
            if before is not None:
                self._db.execute("DELETE FROM replies WHERE at < ?", (before,))
            if most is not None:
                self._db.execute(
                    "DELETE FROM replies WHERE rowid IN (SELECT rowid FROM (SELECT rowid, sum(length(answer)) "
                    "OVER (ORDER BY at DESC, rowid DESC) AS so_far FROM replies) WHERE so_far > ?)",
                    (most,),
                )
            self._db.execute("DELETE FROM asked WHERE key NOT IN (SELECT key FROM replies)")
            self._db.execute("DELETE FROM set_aside")
        self._db.execute("VACUUM")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return total - self._count()

    def exported(self) -> Iterator[bytes]:
        """One line of JSON for each readable reply, in an order of its own that is the same for the same replies."""
        rows = self._db.execute(
            "SELECT key, series, sample, answer, at, identity, model FROM replies LEFT JOIN asked USING (key) "
            "ORDER BY key, series, sample"
        )
        for key, series, number, text, at, identity, model in rows:
            try:
                answer_json.decode(text)
            except answer_json.BadRow:
                continue
            yield canon.dumps(
                {
                    "format": FORMAT,
                    "key": key,
                    "series": series,
                    "sample": number,
                    "asked": identity,
                    "model": model,
                    "at": at,
                    "answer": canon.loads(text),
                }
            )

    def take_in(self, lines: Iterable[bytes]) -> Imported:
        """Keep exported replies, all of them or, when something fails, none."""
        added = known = unreadable = 0
        with self._transaction():
            for line in lines:
                row = _row(line)
                if row is None:
                    unreadable += 1
                    continue
                kept, asked = row
                fresh = self._db.execute(TAKE_IN, kept).rowcount
                added, known = added + fresh, known + 1 - fresh
                if asked is not None:
                    self._db.execute("INSERT OR IGNORE INTO asked (key, identity, model) VALUES (?, ?, ?)", asked)
        return Imported(added, known, unreadable)

    def _count(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM replies").fetchone()[0])


def _row(line: bytes) -> tuple[tuple[str, str, int, str, float], tuple[str, str, str | None] | None] | None:
    """The columns of an exported line; None when it is none."""
    try:
        fields = canon.loads(line)
        if not isinstance(fields, dict):
            return None
        text = canon.dumps(fields.get("answer")).decode()
        answer_json.decode(text)
    except ValueError:
        return None
    key, series, sample = fields.get("key"), fields.get("series"), fields.get("sample")
    if fields.get("format") != FORMAT or not isinstance(key, str) or not isinstance(series, str):
        return None
    if not isinstance(sample, int) or isinstance(sample, bool) or sample < 0:
        return None
    asked, model = fields.get("asked"), fields.get("model")
    named = (key, asked, model if isinstance(model, str) else None) if isinstance(asked, str) else None
    return (key, series, sample, text, _time(fields.get("at"))), named


def _time(at: Json) -> float:
    """When a reply arrived; now where that is not said or lies ahead."""
    now = time.time()
    return min(float(at), now) if isinstance(at, (int, float)) and not isinstance(at, bool) else now


def write_private(path: Path, lines: Iterable[bytes]) -> int:
    """Write lines to a new file that only the user can read; returns how many.

    Raises:
        BadInput: the file is there already or cannot be written.
    """
    count = 0
    try:
        # Replies quote what the agent read.
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            for line in lines:
                file.write(line + b"\n")
                count += 1
    except OSError as error:
        raise BadInput(f"the replies cannot be written to {str(path)!r}: {error}. Name a new file.") from error
    return count
