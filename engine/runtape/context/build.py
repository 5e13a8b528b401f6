"""A recorded request as a tree of pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ..trace.origins import OUTSIDE, Origin
from ..wire.dialects import dialect_for
from ..wire.values import Request, Slot
from .apply import PLACEHOLDER
from .pieces import Context, NotExamined, Piece, PieceKind
from .spans import Span, Tree
from .split import split
from .unexamined import NO_WORDS, TOOL_DEFINITIONS, reasons

_EXAMINED = frozenset({"system", "user", "assistant", "tool_result"})


def build(request: Request, origins: Sequence[Origin]) -> Context:
    """The pieces of a request.

    Refs are `EVENT[MESSAGE]/path`: the event that first brought the message into the run, the index of the message in
    the request, and the way down to the piece: keys and indexes of JSON, `p2` a paragraph, `l3` a line, `c1` a comment,
    `s1` a sentence, `b2` the second text of a message that has several. A level with nothing beside it is left out.

    Args:
        request: the model call as recorded.
        origins: where each message came from; a message without one has the event 0.

    Returns:
        Every text of the request cut as far as it goes. Tool definitions, arguments of earlier calls, images,
        documents and reasoning are listed in `not_examined`.
    """
    dialect = dialect_for(request.api)
    slots = tuple(dialect.slots(request.body))
    parts = dialect.split(request.body)
    trees = tuple(_tree(slot) for slot in slots)
    growing = _Growing(slots, {origin.index: origin for origin in origins})
    first_leaf: list[int] = []
    for at, tree in enumerate(trees):
        first_leaf.append(len(growing.leaves))
        if tree.spans:
            growing.add_message(at, tree)
        elif _is_examined(slots[at]) and slots[at].text.strip():
            growing.leave_out(slots[at].message, NO_WORDS)
    for index, message in enumerate(parts.messages):
        for reason in reasons(message):
            growing.leave_out(index, reason)
    not_examined = list(growing.left_out)
    if parts.tools:
        not_examined.append(NotExamined("tools", TOOL_DEFINITIONS))
    return Context(
        request, slots, tuple(growing.pieces), tuple(growing.leaves), tuple(not_examined), trees, tuple(first_leaf)
    )


def _tree(slot: Slot) -> Tree:
    if not _is_examined(slot) or slot.text.strip() == PLACEHOLDER:
        return Tree(slot.text, ())
    return split(slot.text)


def _is_examined(slot: Slot) -> bool:
    return slot.kind in _EXAMINED and slot.form == "text"


class _Growing:
    """The pieces so far."""

    def __init__(self, slots: Sequence[Slot], origins: dict[int, Origin]) -> None:
        self.pieces: list[Piece] = []
        self.leaves: list[int] = []
        self.left_out: dict[NotExamined, None] = {}
        self._slots = slots
        self._origins = origins
        self._task = next((slot.message for slot in slots if slot.kind == "user"), None)
        self._texts = Counter(slot.message for slot in slots if _is_examined(slot))
        seen: Counter[int] = Counter()
        self._block: dict[int, int] = {}
        for at, slot in enumerate(slots):
            if _is_examined(slot):
                seen[slot.message] += 1
                self._block[at] = seen[slot.message]

    def leave_out(self, message: int, reason: str) -> None:
        """Note that something of a message is not examined."""
        self.left_out[NotExamined(self._ref(message), reason)] = None

    def add_message(self, at: int, tree: Tree) -> None:
        """Append the pieces of one slot."""
        slot = self._slots[at]
        ref = self._ref(slot.message)
        if self._texts[slot.message] > 1:
            ref = f"{ref}/b{self._block[at]}"
        self._add(at, ref, "message", Span("paragraph", "", 0, len(tree.text), "", tree.spans, tree.count), None)

    def _ref(self, message: int) -> str:
        origin = self._origins.get(message)
        return f"{origin.event if origin else 0}[{'system' if message == OUTSIDE else message}]"

    def _add(self, at: int, ref: str, kind: PieceKind, span: Span, parent: int | None) -> int:
        while len(span.children) == 1:
            # A level with one thing in it would only make the ref longer.
            span = span.children[0]
            kind = kind if kind == "message" else span.kind
        slot = self._slots[at]
        origin = self._origins.get(slot.message)
        index = len(self.pieces)
        piece = Piece(
            ref=ref,
            kind=kind,
            slot=at,
            start=span.start,
            end=span.end,
            text=slot.text[span.start : span.end] if span.children else span.text,
            parent=parent,
            children=(),
            role=slot.kind,
            event=origin.event if origin else None,
            tool=(slot.tool or (origin.tool if origin else None)) if slot.kind == "tool_result" else None,
            pinned=slot.kind == "system" or (slot.kind == "user" and slot.message == self._task),
        )
        self.pieces.append(piece)
        if span.children:
            below = tuple(self._add(at, f"{ref}/{child.name}", child.kind, child, index) for child in span.children)
            self.pieces[index] = replace(piece, children=below)
        else:
            self.leaves.append(index)
        return index
