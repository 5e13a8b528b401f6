"""Replies that were paid for, kept so that nothing is paid twice.

The cache never stops a rerun: a row that cannot be read is a miss, a damaged file is set aside, a disk that cannot be
written leaves the replies in memory. Each is said once, in `notes`.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from .. import canon
from ..said import Quoted, Said
from ..wire.dialects import dialect_for
from ..wire.values import Request
from . import answer_json
from .address import LOGIN
from .memory import keep, shared_rows
from .model import Answer
from .rows import Asked, InBatch, ReplyRows, Row, Sample

FORMAT = 1
"""Part of every key: answers of another format, or under another rule for what identifies a request, are misses."""

FILE = "replies.sqlite"

LEASE = 5.0
"""Seconds until a claim that nobody refreshes is free again: how long a sample waits for a process that was killed."""

DAY = 86_400.0
"""Seconds. Behind one name a provider may put another model at any time."""

if TYPE_CHECKING:
    from typing_extensions import Self  # in typing from 3.11

T = TypeVar("T")


def key_of(identity: str, request: Request) -> str:
    """The name of what is asked of whom: equal for equal bodies, whatever the order of their keys."""
    body, _left_out = dialect_for(request.api).for_rerun(request.body)
    return canon.digest([FORMAT, identity, request.api, body])


class ReplyCache:
    """Answers by sample, in `folder` or, with None, in memory. Belongs to one thread; close it."""

    def __init__(self, folder: Path | str | None, *, lease: float = LEASE) -> None:
        self.lease = lease
        self._wrong: list[Said] = []
        """What went wrong, once each."""
        self._opened = time.time()
        self._old: set[Sample] = set()
        """Answers handed out that were more than a day old when the cache was opened."""
        self._folder = None if folder is None else Path(folder)
        self._memory = ReplyRows(None, lease) if self._folder is None else shared_rows(self._folder, lease)
        self._disk: ReplyRows | None = None
        self._writable = True
        self._inode: tuple[int, int] | None = None
        """Which file was opened; None before."""
        if self._folder is not None:
            self._open(self._folder)

    def close(self) -> None:
        """Close the database."""
        self._memory.close()
        if self._disk is not None:
            self._disk.close()
            self._disk = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def notes(self) -> list[Said]:
        """What went wrong with the cache, once each, and how old its answers are."""
        if not self._old:
            return [*self._wrong]
        many, are = (f"{len(self._old)} answers", "are") if len(self._old) > 1 else ("1 answer", "is")
        return [
            *self._wrong,
            Said(f"{many} from the reply cache {are} more than a day old; pass --no-cache to draw new ones"),
        ]

    def answers(self, key: str, series: str) -> dict[int, Answer]:
        """The answers that are there, by sample number."""
        found: dict[int, Answer] = {}
        nothing: list[Row] = []
        on_disk = self._read(lambda rows: rows.read(key, series), nothing)
        for row in [*on_disk, *self._memory.read(key, series)]:
            sample = Sample(key, series, row.number)
            answer = self._decoded(sample, row.text)
            if answer is None:
                continue
            at = row.at if isinstance(row.at, float) else None
            found[row.number] = replace(answer, at=at)
            if at is not None and at < self._opened - DAY:
                self._old.add(sample)
        return found

    def all_answers(self, key: str) -> list[Answer]:
        """The answers that are there, of all series."""
        every = [*self._read(lambda rows: rows.read_all(key), list[tuple[str, Row]]()), *self._memory.read_all(key)]
        found = [self._decoded(Sample(key, series, row.number), row.text) for series, row in every]
        return [answer for answer in found if answer is not None]

    def _decoded(self, sample: Sample, text: object) -> Answer | None:
        try:
            return answer_json.decode(text)
        except answer_json.BadRow as error:
            told = "); it was set aside and is asked for again"
            self._note("a kept reply could not be read (", Quoted(str(error)), told)
            self._write(lambda rows: rows.set_aside(sample))
            return None

    def add(self, sample: Sample, answer: Answer, *, job: str) -> None:
        """Keep an answer, on disk before this returns if the disk takes it. The first answer of a sample stays."""
        self._write(lambda rows: rows.add(sample, answer_json.encode(answer), job))

    def most_at_once(self, identity: str) -> int | None:
        """Samples that this model was seen to give in one request; None when it was never tried."""
        identity = _storable(identity)
        on_disk = self._read(lambda rows: rows.most_at_once(identity), None)
        return self._memory.most_at_once(identity) if on_disk is None else on_disk

    def learn_most_at_once(self, identity: str, samples: int) -> None:
        """Keep how many samples this model gives in one request, so that a resumed search goes the same way."""
        self._write(lambda rows: rows.learn_most_at_once(_storable(identity), samples))

    def takes_turns(self, identity: str) -> bool:
        """Whether this model's server was seen to work on one request at a time."""
        identity = _storable(identity)
        return self._read(lambda rows: rows.takes_turns(identity), False) or self._memory.takes_turns(identity)

    def learn_takes_turns(self, identity: str) -> None:
        """Keep that it does, so that it is measured once."""
        self._write(lambda rows: rows.learn_takes_turns(_storable(identity)))

    def no_logprobs(self, about: str) -> str | None:
        """Why a model at an endpoint gives no log-probabilities of tool calls; None when that is not known."""
        about = _storable(about)
        on_disk = self._read(lambda rows: rows.no_logprobs(about), None)
        return self._memory.no_logprobs(about) if on_disk is None else on_disk

    def learn_no_logprobs(self, about: str, reason: str) -> None:
        """Keep why a model at an endpoint gives none, so that it is not asked again."""
        self._write(lambda rows: rows.learn_no_logprobs(_storable(about), _storable(reason)))

    def describe(self, identity: str, requests: Mapping[str, Request]) -> None:
        """Keep what some keys stand for: requests to the model of that identity."""
        named = [(key, request.body.get("model")) for key, request in requests.items()]
        asked = [
            Asked(key, _storable(LOGIN.sub("//", identity)), _storable(model) if isinstance(model, str) else None)
            for key, model in named
        ]
        self._write(lambda rows: rows.describe(asked))

    def claim(self, samples: Sequence[Sample], holder: str) -> set[Sample]:
        """Those of the samples that `holder` may draw now; the others are there already or on their way elsewhere."""
        return self._write(lambda rows: rows.claim(samples, holder))

    def refresh(self, holder: str) -> None:
        """Go on holding what `holder` claimed. Due well within `lease` seconds."""
        self._write(lambda rows: rows.refresh(holder))

    def release(self, holder: str) -> None:
        """Give up what `holder` claimed and did not draw."""
        self._write(lambda rows: rows.release(holder))

    def in_batch(self, sample: Sample) -> InBatch | None:
        """The batch that a sample was asked for in and has not come from; None when there is none."""
        on_disk = self._read(lambda rows: rows.in_batch(sample), None)
        return self._memory.in_batch(sample) if on_disk is None else on_disk

    def items_in_batch(self, batch: str) -> int:
        """How many requests a batch was submitted with."""
        return self._read(lambda rows: rows.items_in_batch(batch), 0) or self._memory.items_in_batch(batch)

    def begin_batch(self, batch: str, items: Mapping[str, Sequence[Sample]]) -> None:
        """Keep what a batch is about to ask for, by the name of the request, before it is submitted."""
        self._write(lambda rows: rows.begin_batch(batch, items))

    def name_batch(self, batch: str, remote: str) -> None:
        """Keep what the server calls a batch that it took."""
        self._write(lambda rows: rows.name_batch(batch, remote))

    def leave_batch(self, samples: Sequence[Sample]) -> None:
        """Forget that some samples were asked for in a batch, so that they are asked for anew."""
        self._write(lambda rows: rows.leave_batch(samples))

    def paid(self, job: str) -> int:
        """Model calls that `job` has ever paid for, in any process: those charged, or else the answers kept."""
        return self._read(lambda rows: rows.paid(job), 0) + self._memory.paid(job)

    def charge(self, job: str, calls: int) -> None:
        """Count model calls of a job, whatever came of them, so that its limit holds in the next process too."""
        self._write(lambda rows: rows.charge(job, calls))

    def _read(self, act: Callable[[ReplyRows], T], otherwise: T) -> T:
        if self._disk is None:
            return otherwise
        try:
            return act(self._disk)
        except (sqlite3.Error, OSError) as error:
            self._failed(error)
            return otherwise

    def _write(self, act: Callable[[ReplyRows], T]) -> T:
        if self._disk is not None and self._writable:
            try:
                return act(self._disk)
            except (sqlite3.Error, OSError) as error:
                self._failed(error)
        return act(self._memory)

    def _open(self, folder: Path) -> None:
        try:
            self._disk = ReplyRows(folder / FILE, self.lease)
            self._inode = _inode(folder)
            # The folder stands in the user's project, and replies do not belong into version control.
            with suppress(FileExistsError), (folder / ".gitignore").open("x", encoding="utf-8") as ignore:
                ignore.write("*\n")
        except (sqlite3.Error, OSError) as error:
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        """Go on without what failed: the damaged file, else the disk."""
        self._writable = False
        # SQLite's "malformed" and "not a database" arrive as this very class; a full disk or a lock as a subclass.
        if type(error) is sqlite3.DatabaseError and self._folder is not None:
            self._replace_file(self._folder)
            return
        if self._folder is not None:
            keep(self._folder)
        told = "); they stay in memory for this run"
        self._note(f"replies cannot be kept in {self._folder} (", Quoted(str(error)), told)

    def _replace_file(self, folder: Path) -> None:
        if self._disk is not None:
            self._disk.close()
            self._disk = None
        try:
            damaged = None if self._replaced(folder) else _set_aside(folder)
            self._disk = ReplyRows(folder / FILE, self.lease)
            self._inode = _inode(folder)
        except (sqlite3.Error, OSError) as error:
            keep(folder)
            self._note(
                f"the reply cache in {folder} is damaged and cannot be replaced (",
                Quoted(str(error)),
                "); replies stay in memory",
            )
            return
        self._writable = True
        anew = "another process began it anew" if damaged is None else f"it was set aside as {damaged} and begun anew"
        self._note(f"the reply cache in {folder} was damaged; {anew}")

    def _replaced(self, folder: Path) -> bool:
        """Whether another process has put a new file in the place of the damaged one already."""
        if self._inode is not None:
            return _inode(folder) not in (None, self._inode)
        try:
            ReplyRows(folder / FILE, self.lease).close()
        except (sqlite3.Error, OSError):
            return False
        return True

    def _note(self, *parts: str) -> None:
        text = Said(*parts)
        if text not in self._wrong:
            self._wrong.append(text)


def _storable(text: str) -> str:
    """A text that SQLite takes: what a trace named may hold a lone surrogate."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _inode(folder: Path) -> tuple[int, int] | None:
    try:
        found = (folder / FILE).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _set_aside(folder: Path) -> str:
    """The name under which the damaged file now lies; none that was set aside before is lost."""
    name = f"{FILE}.damaged"
    number = 1
    while (folder / name).exists():
        number += 1
        name = f"{FILE}.damaged-{number}"
    (folder / FILE).replace(folder / name)
    for tail in ("-wal", "-shm"):
        (folder / f"{FILE}{tail}").unlink(missing_ok=True)
    return name
