"""What a run and its file are called."""

from __future__ import annotations

import os
import re
import secrets
import sys
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import cast

from ..jsonable import jsonable
from ..trace.events import VERSION
from ..trace.lookup import trace_folder
from ..wire.values import JsonObject

LONGEST = 500
"""Characters kept of a run's name."""


def file_path(path: Path | None, name: object, folder: str | os.PathLike[str] | None) -> Path:
    """The file asked for, else one that no other run has: the run's name, the local time, a few random letters.

    Absolute, so that it stays the same file when the program changes its working directory.
    """
    if path is None:
        slug = re.sub(r"[^A-Za-z0-9._]+", "-", called(name) or _program()).strip("-.")[:60].strip("-.") or "run"
        stamp = time.strftime("%Y%m%d-%H%M%S")
        path = (Path(folder) if folder else trace_folder()) / f"{slug}-{stamp}-{secrets.token_hex(3)}.jsonl"
    return Path(os.path.abspath(path))  # noqa: PTH100 -- without following links, as the user named it


def run_start(path: Path | None, name: object, tags: object) -> JsonObject:
    """The payload of a trace's first event. Of the command line only the program's name: the rest may hold secrets."""
    return {
        "run_id": secrets.token_hex(6),
        "format": "runtape",
        "version": VERSION,
        "name": called(name) or (path.stem if path is not None else _program()),
        "started_at": datetime.now(timezone.utc).isoformat(),
        "python": sys.version.split()[0],
        "argv": [Path(argument).name for argument in _arguments()[:1]],
        "tags": {} if tags is None else jsonable(tags),
    }


def called(name: object) -> str:
    """A run's name as text; empty for None. Whatever else was given is named as a trace would show it."""
    if name is None:
        return ""
    kept = jsonable(name)
    return (kept if isinstance(kept, str) else str(kept))[:LONGEST]


def _program() -> str:
    return next((Path(argument).stem for argument in _arguments()[:1]), "").lstrip("-") or "run"


def _arguments() -> list[str]:
    # A program that embeds Python may have no list, or anything in it.
    found = cast("object", getattr(sys, "argv", None))
    items = cast("list[object]", found) if isinstance(found, list) else []
    return [argument for argument in items if isinstance(argument, str)]
