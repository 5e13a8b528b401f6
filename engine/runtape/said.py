"""Words of ours that quote: they know which parts of them come from a trace, a file or a server."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self  # in typing from 3.11


class Quoted(str):
    """A part that somebody else wrote."""

    __slots__ = ()


class Said(str):
    """A text of ours; where recorded text is shown apart, only its `Quoted` parts are.

    It is the joined text for everyone who does not ask.
    """

    parts: tuple[str, ...]
    """The text in pieces; those that are no `Quoted` are words of ours."""

    __slots__ = ("parts",)

    def __new__(cls, *parts: str) -> Self:
        """The text that the parts make; parts of a `Said` become its own."""
        made = super().__new__(cls, "".join(parts))
        made.parts = tuple(inner for part in parts for inner in (part.parts if isinstance(part, Said) else (part,)))
        return made


def parts_of(text: str) -> tuple[str, ...]:
    """The parts of a text; one that does not know its parts is quoted as a whole."""
    return text.parts if isinstance(text, Said) else (Quoted(text),)


def joined(between: str, texts: Iterable[str]) -> Said:
    """Several texts as one, each quoted as it was before."""
    parts: list[str] = []
    for text in texts:
        parts += [between] * bool(parts)
        parts += parts_of(text)
    return Said(*parts)
