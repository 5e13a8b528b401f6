"""Files in the trace folder that another tool recorded, and how to bring them in."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runtape.errors import BadInput
from runtape.importers.imported import Skipped
from runtape.importers.registry import detect
from runtape.importers.source import sources
from runtape.trace.store import SUFFIX

LOOKED_AT = 20
"""Newest files whose beginning is read."""
NAMED = 3

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,99}")


@dataclass(frozen=True, slots=True)
class Foreign:
    """One file in a known format."""

    name: str
    """The file's name; empty when it is no plain one, which is not repeated."""
    title: str
    """Of its format."""


def foreign_files(folder: Path, unreadable: set[Path]) -> list[Foreign]:
    """Files of the folder that can be imported, newest first; only their beginnings are read.

    Args:
        folder: The trace folder.
        unreadable: Files named like traces that hold none.
    """
    try:
        with os.scandir(folder) as entries:
            files = [
                (entry.stat().st_mtime, folder / entry.name)
                for entry in entries
                if (not entry.name.endswith(SUFFIX) or folder / entry.name in unreadable)
                and not entry.name.startswith(".")
                and entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return []
    return [found for _, path in sorted(files, reverse=True)[:LOOKED_AT] for found in _known(path)]


def _known(path: Path) -> Iterator[Foreign]:
    try:
        with sources([str(path)]) as found:
            first = next((source for source in found if not isinstance(source, Skipped)), None)
            detected = None if first is None else detect(first.sample)
    except BadInput:
        return
    if detected is not None:
        yield Foreign(path.name if _PLAIN.fullmatch(path.name) else "", detected.format.title)


def offer(folder: Path, files: list[Foreign]) -> str:
    """What to tell about them; empty when there are none."""
    if not files:
        return ""
    named = [file for file in files if file.name][:NAMED]
    others = len(files) - len(named)
    told = [f"`runtape import {folder / file.name} -o {folder}` ({file.title})" for file in named]
    told += [f"{others} more in the folder"] if others else []
    return f" Recordings of other tools are there too, which a person can bring in with {', '.join(told)}."
