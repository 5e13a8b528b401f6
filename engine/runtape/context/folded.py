"""Quoted strings of YAML, as programs write them: folded over several lines, quotes doubled, line breaks escaped.

Tools that answer in YAML wrap a long string somewhere within a sentence (YAML 1.2.2, sections 7.3.1 and 7.3.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .unescaped import ESCAPE, Unescaped, meant

# It stands behind `key:` or `-` and ends its line.
_STRING = re.compile(
    r"""^(?P<indent>[ ]*)(?:-[ ]+)*(?:[\w.\-]{1,40}:[ ]+|(?<=-[ ]))"""
    r"""(?:"(?P<double>[^"\\]*(?:\\.[^"\\]*)*)"|'(?P<single>[^']*(?:''[^']*)*)')[^\S\n]*$""",
    re.MULTILINE | re.DOTALL,
)
_FOLD = r"[^\S\n]*\n\s*"
_IN_DOUBLE = re.compile(rf"\\{_FOLD}|{_FOLD}|{ESCAPE.pattern}", re.DOTALL)
_IN_SINGLE = re.compile(rf"{_FOLD}|''")


_SHORT = {"''": "'", "\\ ": " "}


def unfolded(text: str) -> Unescaped | None:
    """The text with such strings as a reader takes them; None when it has none.

    A string counts when it runs over lines that are indented deeper than the one where it begins, or when it escapes
    a line break. Blank lines stay, one line break is a space.
    """
    parts = [part for found in _STRING.finditer(text) if _is_folded(found) for part in _parts(found)]
    return Unescaped(text, parts) if parts else None


def _is_folded(found: re.Match[str]) -> bool:
    double, single = found["double"], found["single"]
    lines = (double if single is None else single).split("\n")[1:]
    if not lines:
        return double is not None and "\\n" in double
    deeper = found["indent"] + " "
    return all(not line or line.isspace() or line.startswith(deeper) for line in lines)


def _parts(found: re.Match[str]) -> Iterator[tuple[int, int, str]]:
    kind = "single" if found["double"] is None else "double"
    for part in (_IN_SINGLE if kind == "single" else _IN_DOUBLE).finditer(found.string, *found.span(kind)):
        yield part.start(), part.end(), _said(part)


def _said(part: re.Match[str]) -> str:
    written = part.group()
    if written in _SHORT:
        return _SHORT[written]
    breaks = written.count("\n")
    if written.startswith("\\"):
        return "\n" * (breaks - 1) if breaks else meant(part)
    return " " if breaks == 1 else "\n" * breaks
