"""Texts that somebody suspects, found in the context."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator

from ..context.pieces import Context, Piece
from ..context.quoting import Quotable
from ..context.tokens import tokens
from ..errors import BadInput
from ..text import shorten, visible

_SHOWN = 80
"""Characters of a text in an error message."""


def find_suspects(context: Context, suspects: Iterable[str]) -> frozenset[int]:
    """Positions in `context.leaves` of the pieces that are meant.

    Args:
        context: The context of the decision.
        suspects: References such as `9[1]/s2`, or quoted text, which need not be exact; see `Quotable`.

    Raises:
        BadInput: a suspect is neither; the message names the nearest.
    """
    position = {piece: at for at, piece in enumerate(context.leaves)}
    quotable: Quotable | None = None
    found: set[int] = set()
    for suspect in suspects:
        leaves = {position[leaf] for leaf in _by_ref(context, suspect.strip())}
        if not leaves:
            quotable = quotable or Quotable(context)
            leaves.update(quotable.leaves(suspect))
            if not leaves:
                raise BadInput(_unknown(context, suspect, is_there=quotable.holds(suspect)))
        found |= leaves
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


def _unknown(context: Context, suspect: str, *, is_there: bool) -> str:
    shown = shorten(visible(suspect), _SHOWN)
    if is_there:
        return (
            f"{shown!r} is in the request, but in a part that is not examined, so it cannot be a suspect. Run why "
            "without it; the report says which parts those are and why."
        )
    near = _nearest(context, suspect)
    hint = f" Nearest: {near.ref} {shorten(visible(near.text), _SHOWN)!r}." if near else ""
    how = "Quote the text as recorded, or give the reference of a piece."
    return f"No piece of this context is or contains {shown!r}.{hint} {how}"


def _nearest(context: Context, suspect: str) -> Piece | None:
    leaves = [context.pieces[leaf] for leaf in context.leaves]
    refs = difflib.get_close_matches(suspect, [leaf.ref for leaf in leaves], n=1, cutoff=0.75)
    if refs:
        return next(leaf for leaf in leaves if leaf.ref == refs[0])
    wanted = tokens(suspect)
    words = [tokens(leaf.text) for leaf in leaves]
    spread = Counter(word for said in words for word in said)
    shared = [sum(1 / spread[word] for word in sorted(wanted & said)) for said in words]
    best = max(range(len(leaves)), key=lambda at: shared[at], default=None)
    return leaves[best] if best is not None and shared[best] else None
