"""What a run and its file are called."""

from __future__ import annotations

import os
import re
import secrets
import sys
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ..jsonable import jsonable
from ..trace.lookup import trace_folder
from ..wire.values import JsonObject

VERSION = 1
"""Of the trace format."""


def file_path(path: Path | None, name: str | None, folder: str | os.PathLike[str] | None) -> Path:
    """The file asked for, else one that no other run has: the run's name, the local time, a few random letters."""
    if path is not None:
        return path
    slug = re.sub(r"[^A-Za-z0-9._]+", "-", name or _program()).strip("-.")[:60] or "run"
    stamp = time.strftime("%Y%m%d-%H%M%S")
    return (Path(folder) if folder else trace_folder()) / f"{slug}-{stamp}-{secrets.token_hex(3)}.jsonl"


def run_start(path: Path | None, name: str | None, tags: Mapping[str, Any] | None) -> JsonObject:
    """The payload of a trace's first event. Of the command line only the program's name: the rest may hold secrets."""
    return {
        "run_id": secrets.token_hex(6),
        "format": "runtape",
        "version": VERSION,
        "name": name or (path.stem if path is not None else _program()),
        "started_at": datetime.now(timezone.utc).isoformat(),
        "python": sys.version.split()[0],
        "argv": [Path(argument).name for argument in sys.argv[:1]],
        "tags": jsonable(dict(tags or {})),
    }


def _program() -> str:
    return (Path(sys.argv[0]).stem if sys.argv else "").lstrip("-") or "run"
