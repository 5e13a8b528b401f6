"""What the command line prints: results on standard output, progress and errors on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..canon import dumps
from ..errors import KEPT, BadInput, BudgetSpent, ModelFailed, RuntapeError
from ..report.document import Document
from ..report.text import COLOURS, PLAIN, to_text
from ..text import visible

if TYPE_CHECKING:
    from ..report.results import Progress, StoppedBy

DONE, DOES_NOT_HOLD, BAD_INPUT, BUDGET, MODEL, INTERRUPTED = 0, 1, 2, 3, 4, 130


def exit_status(error: RuntapeError) -> int:
    """The exit status that stands for an error."""
    match error:
        case BadInput():
            return BAD_INPUT
        case BudgetSpent():
            return BUDGET
        case ModelFailed():
            return MODEL
        case _:
            return BAD_INPUT


def report_status(stopped_by: StoppedBy | None, *, holds: bool) -> int:
    """The exit status of a report: why it ended early, or whether what was asked for holds."""
    match stopped_by:
        case "budget":
            return BUDGET
        case "model":
            return MODEL
        case "cancelled":
            return INTERRUPTED
        case None:
            return DONE if holds else DOES_NOT_HOLD


def print_json(fields: dict[str, Any]) -> None:
    """One JSON object, one line."""
    sys.stdout.write(dumps(fields).decode("utf-8") + "\n")


def print_page(page: Document) -> None:
    """A document on standard output: coloured on a terminal, plain in a file or a pipe."""
    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    sys.stdout.write(to_text(page, paint=COLOURS if coloured else PLAIN))


_complained: set[str] = set()


def complain(message: str) -> None:
    """One message on standard error; it may quote a trace, so hidden characters are shown."""
    _complained.add(message)
    sys.stderr.write(f"runtape: {visible(message)}\n")


def untold(notes: list[str]) -> list[str]:
    """The notes of a report that who reads it has not read yet: at a terminal, those that were no complaints before."""
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        return notes
    return [note for note in notes if note not in _complained]


def stopped_too_early() -> None:
    """Say that a verb was interrupted when it had no partial result yet."""
    complain(f"stopped before anything is known. Run it again to go on from here: {KEPT}")


class Watch:
    """Follows a long verb: keeps its newest partial result and, on a terminal, shows one live line."""

    def __init__(self, draw: Callable[[str], None] | None) -> None:
        self.latest: Progress | None = None
        self._draw = draw
        self._waiting: str | None = None

    def __call__(self, progress: Progress) -> None:
        """Take one report of progress."""
        if self.latest is None:
            sys.stderr.write(f"runtape: {plan(progress)}\n")
        self.latest = progress
        if self._draw is None and progress.waiting is not None and progress.waiting != self._waiting:
            sys.stderr.write(f"runtape: {visible(progress.waiting)}\n")
        self._waiting = progress.waiting
        if self._draw is not None:
            left = "" if progress.seconds_left is None else f", about {progress.seconds_left:.0f} s left"
            spent = "" if progress.usd is None else f", ${progress.usd:.4f} spent"
            done = f"{progress.calls} of about {progress.planned} model calls{left}{spent}"
            self._draw(f"{done}: {progress.waiting or progress.message}")


def plan(progress: Progress) -> str:
    """What a verb is expected to cost, before its first call."""
    kept = progress.reused
    if not progress.planned:
        return f"no model call: {_replies(kept)} that it takes {'is' if kept == 1 else 'are'} kept"
    seconds, usd = progress.seconds_left, progress.planned_usd
    takes = "" if seconds is None else f", about {seconds:.0f} s at the recorded speed"
    costs = "" if usd is None else f", about ${usd:.2g}"
    waves = "" if progress.waves is None else f" in about {_batches(progress.waves)}"
    calls = "1 model call" if progress.planned == 1 else f"{progress.planned} model calls"
    beside = f" beside {kept} kept {'reply' if kept == 1 else 'replies'}" if kept else ""
    return f"about {calls}{beside}{waves}{takes}{costs}"


def _replies(kept: int) -> str:
    return "the 1 reply" if kept == 1 else f"all {kept} replies"


def _batches(waves: int) -> str:
    return "1 batch" if waves == 1 else f"{waves} batches, one after another, each within a day"


@contextmanager
def watching() -> Generator[Watch]:
    """A watch whose line lives as long as the block."""
    if not _is_drawn_on():
        yield Watch(None)
        return
    # rich costs more to import than the rest of the command line; only a terminal needs it.
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status("starting") as status:
        yield Watch(lambda line: status.update(escape(line)))


@contextmanager
def counting(doing: str, expected: int) -> Generator[Callable[[], None]]:
    """Counts parts of a work as they are done; drawn on a terminal only."""
    if not _is_drawn_on():
        yield lambda: None
        return
    # as in `watching`: only a terminal needs it.
    from rich.console import Console
    from rich.progress import Progress as Drawn

    with Drawn(console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task(doing, total=expected)
        yield lambda: drawn.advance(task)


def _is_drawn_on() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


class Bar:
    """How far files have been read; drawn on a terminal only."""

    def __init__(self, draw: Callable[[int, int], None] | None) -> None:
        self._draw = draw
        self._read = self._expected = 0

    def expect(self, size: int) -> None:
        """Say how many bytes are to be read; 0 when nobody knows."""
        self._expected = size

    def advance(self, read: int) -> None:
        """Count bytes that were read."""
        self._read += read
        if self._draw is not None:
            self._draw(self._read, self._expected)


@contextmanager
def reading() -> Generator[Bar]:
    """A bar that lives as long as the block."""
    if not _is_drawn_on():
        yield Bar(None)
        return
    # as in `watching`: only a terminal needs it.
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Drawn

    columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Drawn(*columns, console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task("", total=None)
        yield Bar(lambda read, expected: drawn.update(task, completed=read, total=max(expected, read) or None))
