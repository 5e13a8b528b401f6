"""An HTML page into a file, whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from ..errors import BadInput
from . import console


def write_page(path: Path, page: str) -> None:
    """Write a page that only the user can read, in place of an older one, and say so on standard error.

    Raises:
        BadInput: the file cannot be written.
    """
    data = page.encode()
    fresh = path.parent / f".{path.name}.{os.getpid()}"
    try:
        # It quotes what the agent read.
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        fresh.replace(path)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink()
        raise BadInput(f"cannot write {str(path)!r}: {error.strerror}. Name a file in a folder that exists.") from error
    console.complain(f"wrote {path} ({len(data):,} bytes). It quotes the run: give it only to who may read that.")
