"""Which files are traces of this launch, and what they are called.

Names are looked up in the listing of the folder and never joined to a path, so no spelling of a name leads elsewhere.
File names are recorded text too: one that is no plain name is called by a digest of it.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from runtape.errors import TraceNotFound
from runtape.trace.store import LAST, SUFFIX

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,99}")
_WORD = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{3,}")
_WORDS = 5
"""Most words of a name that is told as it stands; more of them can make a sentence."""


def public_name(path: Path) -> str:
    """What a trace is called in answers, and how it is asked for."""
    stem = path.name.removesuffix(SUFFIX)
    if _PLAIN.fullmatch(stem) and stem != LAST and len(_WORD.findall(stem)) <= _WORDS:
        return stem
    return f"trace-{hashlib.sha256(path.name.encode('utf-8', 'surrogateescape')).hexdigest()[:10]}"


def chosen(name: str, files: Sequence[Path]) -> Path:
    """The trace of a name.

    Args:
        name: As `public_name` gives it, with or without the ending, a beginning that no other one has, or `last`.
        files: The traces there are, newest first.

    Raises:
        TraceNotFound: there is none; the text names the nearest.
    """
    if name == LAST:
        if not files:
            raise TraceNotFound("the trace folder is empty; record a run with runtape.record() first")
        return files[0]
    names = {public_name(path): path for path in reversed(files)}
    begun = [path for known, path in names.items() if name and known.startswith(name)]
    found = names.get(name) or names.get(name.removesuffix(SUFFIX)) or (begun[0] if len(begun) == 1 else None)
    if found is None:
        near = difflib.get_close_matches(name[:200], names, n=3)
        hint = f"; near it are {', '.join(near)}" if near else ""
        raise TraceNotFound(f"no trace is called {name[:200]!r}{hint}")
    return found
