"""What a file that is no trace looks like, and what to do about it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_BEGINNINGS: Final = (
    (b"\x1f\x8b", "it is compressed with gzip. Unpack it first: `gunzip FILE`"),
    (b"PK\x03\x04", "it is a zip archive. Unpack it first: `unzip FILE`"),
    (b"\x28\xb5\x2f\xfd", "it is compressed with zstd. Unpack it first: `zstd -d FILE`"),
    (b"SQLite format 3", "it is an SQLite database. A trace is a file of JSON lines, usually named *.jsonl"),
    (b"\xff\xfe", "it is UTF-16 text. Save it as UTF-8"),
    (b"\xfe\xff", "it is UTF-16 text. Save it as UTF-8"),
)
_ENOUGH: Final = 4096


def looks_like(path: Path) -> str:
    """One sentence on the file at `path`, which held no event."""
    with path.open("rb") as file:
        head = file.read(_ENOUGH)
    for beginning, meaning in _BEGINNINGS:
        if head.startswith(beginning):
            return meaning
    text = head.removeprefix(b"\xef\xbb\xbf").strip()
    if not head:
        return "it is empty. The recorded process may have stopped before its first event; record the run again"
    if not text.strip(b"\0"):
        return "it holds only blanks or zero bytes, as after a power failure; record the run again"
    if text.startswith((b"<", b"%PDF")) or b"\0" in text:
        return "it is not a file of JSON lines. Name a *.jsonl file that runtape has recorded"
    if text.startswith((b"{", b"[")):
        return (
            "it holds JSON, but no line is a runtape event (an object with `id` and `type`). "
            "If another tool has written it, try `runtape import FILE`"
        )
    return "it is text, but no line is JSON. Name a *.jsonl file that runtape has recorded"
