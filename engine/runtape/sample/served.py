"""Which models a server answered as.

One name may stand for another model tomorrow, and a router may put several behind it: rates over such answers mix them.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..said import Quoted, Said
from ..text import shorten, visible
from ..wire.values import Request
from .model import Answer

SHOWN = 4
"""Names in a note at most; each at most `LONGEST` characters."""

LONGEST = 80


def served_as(answer: Answer) -> str | None:
    """What the server says answered: the model's name and, where it tells one, the fingerprint of the system."""
    if answer.reply is None or not answer.reply.model:
        return None
    mark = answer.raw.get("system_fingerprint") if isinstance(answer.raw, dict) else None
    return f"{answer.reply.model} {mark}" if isinstance(mark, str) and mark else answer.reply.model


class Served:
    """The model names in the answers of one run, by the name that was asked for."""

    def __init__(self) -> None:
        self._names: dict[str, dict[str, None]] = {}

    def saw(self, request: Request, answers: Iterable[Answer]) -> None:
        """Take some answers to `request` into account, new or kept."""
        names = self._names.setdefault(str(request.body.get("model")), {})
        for answer in answers:
            if answer.reply is not None and answer.reply.model:
                names[answer.reply.model] = None

    @property
    def notes(self) -> list[str]:
        """One for each name asked for that several models answered to."""
        return [_note(asked, sorted(names)) for asked, names in self._names.items() if len(names) > 1]


def _note(asked: str, names: list[str]) -> str:
    shown = " and ".join(_short(name) for name in names[:SHOWN])
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return Said(
        "asked for ",
        Quoted(_short(asked)),
        ", the server answered as ",
        Quoted(shown),
        f"{more}: the answers counted together are not those of one model",
    )


def _short(name: str) -> str:
    return repr(visible(shorten(name, LONGEST)))
