"""The cells of a CSV row in which a quoted cell holds sentences."""

from __future__ import annotations

import re

from .weight import reads_as_prose

_CELL = re.compile(r'"[^"\n]*(?:""[^"\n]*)*"|[^",\n]*')


def cells(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The cells of `text[start:end]` as offsets, quotes included; none when it is not such a row.

    A quote starts a cell only right behind a comma, so quoted speech is no cell.
    """
    found: list[tuple[int, int]] = []
    prose = False
    at = start
    while True:
        cell = _CELL.match(text, at, end)
        if not cell:
            return []
        found.append(cell.span())
        prose = prose or (text.startswith('"', *cell.span()) and reads_as_prose(cell.group()))
        at = cell.end()
        if at == end:
            return found if prose and len(found) > 1 else []
        if text[at] != ",":
            return []
        at += 1
