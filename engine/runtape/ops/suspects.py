"""Texts that somebody suspects, found in the context."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from ..context.pieces import Context, Piece
from ..errors import BadInput
from ..text import shorten, visible

_SHOWN = 80
"""Characters of a text in an error message."""


def find_suspects(context: Context, suspects: Iterable[str]) -> frozenset[int]:
    """Positions in `context.leaves` of the pieces that are meant.

    Args:
        context: The context of the decision.
        suspects: References such as `9[1]/s2`, or quoted text: all leaves that contain it, or that it contains.

    Raises:
        BadInput: a suspect is neither; the message names the nearest.
    """
    position = {piece: at for at, piece in enumerate(context.leaves)}
    found: set[int] = set()
    for suspect in suspects:
        leaves = set(_by_ref(context, suspect)) or set(_by_text(context, suspect))
        if not leaves:
            raise BadInput(_unknown(context, suspect))
        found |= {position[leaf] for leaf in leaves}
    return frozenset(found)


def _by_ref(context: Context, ref: str) -> Iterator[int]:
    """Indexes into `context.pieces` of the leaves of the piece with that reference."""
    todo = [index for index, piece in enumerate(context.pieces) if piece.ref == ref]
    while todo:
        index = todo.pop()
        children = context.pieces[index].children
        todo += children
        if not children:
            yield index


def _by_text(context: Context, quote: str) -> Iterator[int]:
    wanted = _plain(quote)
    if not wanted:
        return
    texts = {leaf: _plain(context.pieces[leaf].text) for leaf in context.leaves}
    holding = [leaf for leaf, text in texts.items() if wanted in text]
    yield from holding or (leaf for leaf, text in texts.items() if text and text in wanted)


def _unknown(context: Context, suspect: str) -> str:
    shown = shorten(visible(suspect), _SHOWN)
    near = _nearest(context, suspect)
    hint = f" Nearest: {near.ref} {shorten(visible(near.text), _SHOWN)!r}." if near else ""
    how = "Quote the text as recorded, or give the reference of a piece."
    return f"No piece of this context is or contains {shown!r}.{hint} {how}"


def _nearest(context: Context, suspect: str) -> Piece | None:
    leaves = [context.pieces[leaf] for leaf in context.leaves]
    refs = difflib.get_close_matches(suspect, [leaf.ref for leaf in leaves], n=1, cutoff=0.75)
    if refs:
        return next(leaf for leaf in leaves if leaf.ref == refs[0])
    wanted = set(_plain(suspect).split())
    best = max(leaves, key=lambda leaf: len(wanted & set(_plain(leaf.text).split())), default=None)
    return best if best and wanted & set(_plain(best.text).split()) else None


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
