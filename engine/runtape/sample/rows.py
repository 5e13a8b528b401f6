"""The SQLite tables of the reply cache.

A sample is named by three things: the request's key, the series it belongs to and its number in that series. Before it
is drawn it is claimed with a lease, so that two processes (or two searches of one) that want the same sample pay for it
once; the lease of a process that died runs out. Every method is one transaction: a row is there whole or not at all.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

BUSY = 10.0
"""Seconds to wait for another process's transaction; each takes milliseconds."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT NOT NULL, series TEXT NOT NULL, sample INTEGER NOT NULL,
    answer TEXT NOT NULL, paid_by TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (key, series, sample));
CREATE INDEX IF NOT EXISTS replies_by_job ON replies (paid_by);
CREATE TABLE IF NOT EXISTS leases (
    key TEXT NOT NULL, series TEXT NOT NULL, sample INTEGER NOT NULL, holder TEXT NOT NULL, expires REAL NOT NULL,
    PRIMARY KEY (key, series, sample)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS most_at_once (identity TEXT PRIMARY KEY, samples INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS takes_turns (identity TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS charged (job TEXT PRIMARY KEY, calls INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS no_logprobs (about TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS asked (key TEXT PRIMARY KEY, identity TEXT NOT NULL, model TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batches (
    batch TEXT PRIMARY KEY, requests INTEGER NOT NULL, remote TEXT, at REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS in_batch (
    key TEXT NOT NULL, series TEXT NOT NULL, sample INTEGER NOT NULL,
    batch TEXT NOT NULL, item TEXT NOT NULL, place INTEGER NOT NULL,
    PRIMARY KEY (key, series, sample)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS set_aside (key TEXT, series TEXT, sample INTEGER, answer TEXT, at REAL);
"""

TABLES = (
    "replies", "replies_by_job", "leases", "most_at_once", "takes_turns", "charged", "no_logprobs", "asked", "batches",
    "in_batch", "set_aside",
)  # fmt: skip


class Sample(NamedTuple):
    """The name of one sample."""

    key: str
    """What was asked of whom."""
    series: str
    number: int


class Asked(NamedTuple):
    """What a key stands for, for whoever looks into the cache."""

    key: str
    identity: str
    model: str | None
    """The name in the request."""


class Row(NamedTuple):
    """One kept answer. Text and time may be anything: files get edited."""

    number: int
    text: object
    at: object
    """When it arrived, in seconds since 1970."""


class InBatch(NamedTuple):
    """Where a sample is that was asked for in a batch."""

    batch: str
    """Our name of the batch."""
    item: str
    """The `custom_id` of the request."""
    place: int
    """Which of the answers to that request it is, from 0."""
    remote: str | None
    """The server's name of the batch; None when its submission was not confirmed."""
    at: float
    """When it was about to be submitted, in seconds since 1970."""


class ReplyRows:
    """One connection to one database; path None is a database in memory. Belongs to one thread."""

    def __init__(self, path: Path | None, lease: float, memory: str = ":memory:") -> None:
        """`memory`: the database in memory to open; see `memory`."""
        self._lease = lease
        if path is not None:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Replies quote what the agent read: private to the user from the first byte. A file that is there is not
            # opened: closing it would drop the locks that other connections of this process hold on it.
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        self._db = sqlite3.connect(path or memory, timeout=BUSY, isolation_level=None, uri=path is None)
        try:
            self._prepare()
        except BaseException:
            self._db.close()
            raise

    def _prepare(self) -> None:
        deadline = time.monotonic() + BUSY
        while True:
            try:
                # Where WAL is refused (network file systems) SQLite answers with the journal it keeps, which works too.
                self._db.execute("PRAGMA journal_mode=WAL").fetchone()
                break
            except sqlite3.OperationalError as error:
                # Two processes that switch a new file to WAL at once: SQLite does not wait by its busy timeout here.
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        self._db.execute("PRAGMA synchronous=NORMAL")
        there = {name for (name,) in self._db.execute("SELECT name FROM sqlite_master")}
        if not there.issuperset(TABLES):
            # Only then: whoever only reads waits for no writer.
            self._db.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def read(self, key: str, series: str) -> list[Row]:
        """The samples that are there, by number."""
        found = self._db.execute(
            "SELECT sample, answer, at FROM replies WHERE key = ? AND series = ? ORDER BY sample", (key, series)
        )
        return [Row(*row) for row in found]

    def read_all(self, key: str) -> list[tuple[str, Row]]:
        """The samples of a key that are there, each with its series."""
        found = self._db.execute("SELECT series, sample, answer, at FROM replies WHERE key = ?", (key,))
        return [(series, Row(*row)) for series, *row in found]

    def most_at_once(self, identity: str) -> int | None:
        """Samples that this model gave in one request; None when it was never tried or the row is spoilt."""
        row = self._db.execute("SELECT samples FROM most_at_once WHERE identity = ?", (identity,)).fetchone()
        known: object = None if row is None else row[0]
        return known if isinstance(known, int) and known > 0 else None

    def learn_most_at_once(self, identity: str, samples: int) -> None:
        """Keep how many samples this model gives in one request."""
        with self._transaction():
            self._db.execute(
                "INSERT OR REPLACE INTO most_at_once (identity, samples) VALUES (?, ?)", (identity, samples)
            )

    def takes_turns(self, identity: str) -> bool:
        """Whether this model's server was seen to work on one request at a time."""
        return self._db.execute("SELECT 1 FROM takes_turns WHERE identity = ?", (identity,)).fetchone() is not None

    def learn_takes_turns(self, identity: str) -> None:
        """Keep that this model's server works on one request at a time."""
        with self._transaction():
            self._db.execute("INSERT OR REPLACE INTO takes_turns (identity) VALUES (?)", (identity,))

    def no_logprobs(self, about: str) -> str | None:
        """Why a model at an endpoint gives no log-probabilities of tool calls; None when that is not known."""
        row = self._db.execute("SELECT reason FROM no_logprobs WHERE about = ?", (about,)).fetchone()
        return row[0] if row is not None and isinstance(row[0], str) else None

    def learn_no_logprobs(self, about: str, reason: str) -> None:
        """Keep why it gives none."""
        with self._transaction():
            self._db.execute("INSERT OR REPLACE INTO no_logprobs (about, reason) VALUES (?, ?)", (about, reason))

    def add(self, sample: Sample, text: str, paid_by: str) -> None:
        """Keep one answer and end its lease. The first answer of a sample stays."""
        with self._transaction():
            self._db.execute(
                "INSERT OR IGNORE INTO replies (key, series, sample, answer, paid_by, at) VALUES (?, ?, ?, ?, ?, ?)",
                (*sample, text, paid_by, time.time()),
            )
            self._db.execute("DELETE FROM leases WHERE key = ? AND series = ? AND sample = ?", sample)
            self._db.execute("DELETE FROM in_batch WHERE key = ? AND series = ? AND sample = ?", sample)

    def set_aside(self, sample: Sample) -> None:
        """Move a row that cannot be read out of the way."""
        where = "WHERE key = ? AND series = ? AND sample = ?"
        with self._transaction():
            self._db.execute(
                "INSERT INTO set_aside (key, series, sample, answer, at) "  # noqa: S608 - constant
                f"SELECT key, series, sample, answer, ? FROM replies {where}",
                (time.time(), *sample),
            )
            self._db.execute(f"DELETE FROM replies {where}", sample)  # noqa: S608 - constant

    def describe(self, asked: Iterable[Asked]) -> None:
        """Keep what some keys stand for."""
        with self._transaction():
            self._db.executemany("INSERT OR IGNORE INTO asked (key, identity, model) VALUES (?, ?, ?)", asked)

    def claim(self, samples: Iterable[Sample], holder: str) -> set[Sample]:
        """Those of the samples that `holder` may draw now: no answer is there and nobody else holds them."""
        granted: set[Sample] = set()
        with self._transaction():
            # Read inside the transaction: while it was waited for, a holder may have refreshed its lease to a time that
            # an earlier reading would take for one beyond the full length.
            now = time.monotonic()
            for sample in samples:
                # A lease is valid between now and its full length ahead: the clock starts anew when the machine does.
                taken = self._db.execute(
                    "SELECT 1 FROM replies WHERE key = ? AND series = ? AND sample = ? UNION ALL "
                    "SELECT 1 FROM leases WHERE key = ? AND series = ? AND sample = ? AND expires BETWEEN ? AND ?",
                    (*sample, *sample, now, now + self._lease),
                ).fetchone()
                if taken is None:
                    self._db.execute(
                        "REPLACE INTO leases (key, series, sample, holder, expires) VALUES (?, ?, ?, ?, ?)",
                        (*sample, holder, now + self._lease),
                    )
                    granted.add(sample)
        return granted

    def refresh(self, holder: str) -> None:
        """Hold the leases of `holder` for another full length."""
        self._db.execute("UPDATE leases SET expires = ? WHERE holder = ?", (time.monotonic() + self._lease, holder))

    def release(self, holder: str) -> None:
        """Give up every lease of `holder`."""
        self._db.execute("DELETE FROM leases WHERE holder = ?", (holder,))

    def paid(self, job: str) -> int:
        """Model calls that `job` was charged; at least the answers that are kept under its name."""
        found = self._db.execute(
            "SELECT max((SELECT count(*) FROM replies WHERE paid_by = :job),"
            " ifnull((SELECT calls FROM charged WHERE job = :job), 0))",
            {"job": job},
        )
        return int(found.fetchone()[0])

    def charge(self, job: str, calls: int) -> None:
        """Count model calls of a job."""
        with self._transaction():
            self._db.execute(
                "INSERT INTO charged (job, calls) VALUES (?, ?) "
                "ON CONFLICT (job) DO UPDATE SET calls = calls + excluded.calls",
                (job, calls),
            )

    def in_batch(self, sample: Sample) -> InBatch | None:
        """The batch that a sample was asked for in and has not come from; None when there is none."""
        row = self._db.execute(
            "SELECT batch, item, place, remote, at FROM in_batch JOIN batches USING (batch) "
            "WHERE key = ? AND series = ? AND sample = ?",
            sample,
        ).fetchone()
        return None if row is None else InBatch(*row)

    def items_in_batch(self, batch: str) -> int:
        """How many requests a batch was submitted with."""
        found = self._db.execute("SELECT requests FROM batches WHERE batch = ?", (batch,)).fetchone()
        return 0 if found is None else int(found[0])

    def begin_batch(self, batch: str, items: Mapping[str, Sequence[Sample]]) -> None:
        """Keep what a batch is about to ask for, by the name of the request."""
        rows = [(*sample, batch, item, at) for item, samples in items.items() for at, sample in enumerate(samples)]
        with self._transaction():
            self._db.execute(
                "INSERT INTO batches (batch, requests, at) VALUES (?, ?, ?)", (batch, len(items), time.time())
            )
            self._db.executemany(
                "REPLACE INTO in_batch (key, series, sample, batch, item, place) VALUES (?, ?, ?, ?, ?, ?)", rows
            )
            self._drop_empty_batches()

    def name_batch(self, batch: str, remote: str) -> None:
        """Keep what the server calls a batch."""
        with self._transaction():
            self._db.execute("UPDATE batches SET remote = ? WHERE batch = ?", (remote, batch))

    def leave_batch(self, samples: Iterable[Sample]) -> None:
        """Forget that some samples were asked for in a batch: nothing more will come from it."""
        with self._transaction():
            self._db.executemany("DELETE FROM in_batch WHERE key = ? AND series = ? AND sample = ?", samples)
            self._drop_empty_batches()

    def _drop_empty_batches(self) -> None:
        self._db.execute("DELETE FROM batches WHERE batch NOT IN (SELECT batch FROM in_batch)")

    @contextmanager
    def _transaction(self) -> Generator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")
