"""Where a generated file may be written, and writing it there without ever replacing anything."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from ..errors import PathRefused

_TEST_NAME = re.compile(r"test_\w+\.py", re.ASCII)


def beside(test: Path, number: int) -> Path:
    """Where a trace of a test lies: 0 is that of its decision, 1 and up are those of decisions that were wanted."""
    return test.with_suffix(f".wanted{number}.jsonl" if number else ".jsonl")


def place(out: str | os.PathLike[str], root: str | os.PathLike[str] | None) -> Path:
    """The path of a test file that may be created.

    Args:
        out: The wanted path; relative to `root` when there is one, otherwise to the working directory.
        root: The folder that the file must stay in; None for anywhere.

    Raises:
        PathRefused: the name is not `test_*.py`, or the path leaves `root`, passes a symbolic link below it or a folder
            whose name starts with a dot, or it or the trace beside it exists.
    """
    wanted = Path(out)
    if not _TEST_NAME.fullmatch(wanted.name):
        raise PathRefused(f"{wanted.name!r} is no name for a test. Choose one like 'test_refund.py'.")
    path = wanted if root is None else _inside(wanted, root)
    for taken in (path, beside(path, 0)):
        if os.path.lexists(taken):
            raise _exists(taken)
    return path


def _inside(wanted: Path, root: str | os.PathLike[str]) -> Path:
    base = Path(root).resolve()
    path = base / wanted
    if ".." in wanted.parts or base not in path.parents:
        raise PathRefused(
            f"{str(wanted)!r} leaves the project folder. Give a path inside it, such as 'tests/{wanted.name}'."
        )
    for part in path.relative_to(base).parts:
        if part.startswith("."):
            raise PathRefused(f"{str(wanted)!r} goes through {part!r}. Tests are not written into hidden folders.")
        base /= part
        try:
            is_link = base.is_symlink()
        except OSError as error:  # a name that is too long, for example
            raise PathRefused(f"{part[:40]!r} cannot be used in a path: {error.strerror}. Choose another.") from None
        if is_link:
            raise PathRefused(f"{str(wanted)!r} goes through the symbolic link {part!r}. Give the path without it.")
    return path


def write_all(test: Path, source: str, traces: Sequence[bytes]) -> None:
    """Create a test and the traces beside it; all or none.

    Raises:
        PathRefused: one of them exists, or the folder cannot be written.
    """
    try:
        test.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as files:
            # The test file is claimed first, so that of two writers at once one stops here with nothing written.
            test_file = files.enter_context(_claimed(test, 0o644))
            for number, content in enumerate(traces):
                files.enter_context(_claimed(beside(test, number), 0o600)).write(content)
            test_file.write(source.encode("utf-8"))
    except FileExistsError as error:
        raise _exists(Path(error.filename or test)) from None
    except OSError as error:
        raise PathRefused(f"{test.name!r} cannot be written there: {error.strerror}.") from None


def _exists(taken: Path) -> PathRefused:
    return PathRefused(f"{str(taken)!r} exists already and is never replaced. Choose another name.")


@contextmanager
def _claimed(path: Path, mode: int) -> Generator[BinaryIO, None, None]:
    """A new file to write to, gone again when writing fails."""
    # O_EXCL also refuses a symbolic link at the path, dangling or not.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
    except BaseException:
        path.unlink(missing_ok=True)
        raise
