"""A recorded request as a tree of pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..trace.origins import OUTSIDE, TOOLS, Origin
from ..wire.dialects import dialect_for
from ..wire.values import Json, Path, Request, Slot
from .pieces import PLACEHOLDER, Context, NotExamined, Piece, PieceKind
from .spans import Span, Tree
from .split import split
from .tool_order import ToolOrder, other_orders
from .unexamined import NO_WORDS, TOOL_SCHEMAS, elsewhere, reasons

_NAME_LENGTH = 40
_NOTED = frozenset({"system", "user", "assistant", "tool_result"})
"""Kinds of text that are listed when there are no words in them."""


def build(request: Request, origins: Sequence[Origin], trees: dict[str, Tree] | None = None) -> Context:
    """The pieces of a request.

    Refs are `EVENT[MESSAGE]/path`: the event that first brought the message into the run, the index of the message in
    the request, and the way down to the piece: keys and indexes of JSON, `p2` a paragraph, `l3` a line, `c1` a comment,
    `s1` a sentence, `b2` the second text of a message that has several. A level with nothing beside it is left out. An
    argument of an earlier call is `EVENT[MESSAGE]/TOOL/ARGUMENT`, a description `EVENT[tools]/TOOL/PARAMETER`.

    Args:
        request: the model call as recorded.
        origins: where each message came from; a message without one has the event 0.
        trees: texts that were split before, for those who build many requests of a run; new ones are added.

    Returns:
        Every text of the request cut as far as it goes, images and documents without words and reasoning as wholes.
        What no edit can take out is listed in `not_examined`.
    """
    dialect = dialect_for(request.api)
    slots = tuple(dialect.slots(request.body))
    parts = dialect.split(request.body)
    known = {} if trees is None else trees
    cut = tuple(_tree(slot, known) for slot in slots)
    growing = _Growing(slots, origins)
    first_leaf: list[int] = []
    for at, tree in enumerate(cut):
        first_leaf.append(len(growing.leaves))
        if tree.spans:
            growing.add_slot(at, tree)
        elif slots[at].kind in _NOTED and slots[at].text.strip():
            growing.leave_out(growing.ref(slots[at].message), NO_WORDS)
    examined = _examined(slots)
    for index, message in enumerate(parts.messages):
        for reason in reasons(message, examined.get(index, frozenset())):
            growing.leave_out(growing.ref(index), reason)
    for key, reason in elsewhere(request.body):
        growing.leave_out(key, reason)
    if parts.tools:
        growing.leave_out("tools", TOOL_SCHEMAS)
    return Context(
        request,
        slots,
        tuple(growing.pieces),
        tuple(growing.leaves),
        tuple(growing.left_out),
        cut,
        tuple(first_leaf),
        _tool_order(growing.ref(TOOLS), growing.event(TOOLS), parts.tools),
    )


def _tree(slot: Slot, known: dict[str, Tree]) -> Tree:
    if slot.text.strip() == PLACEHOLDER:
        return Tree(slot.text, ())
    if slot.form in {"block", "reasoning"}:
        return Tree(slot.text, (Span("sentence", "s1", 0, len(slot.text), slot.text),))
    if slot.text not in known:
        known[slot.text] = split(slot.text)
    return known[slot.text]


def _examined(slots: Sequence[Slot]) -> dict[int, set[Path]]:
    """By message, the paths inside it that lead to slots, with all their beginnings."""
    found: dict[int, set[Path]] = {}
    for slot in slots:
        inside = slot.path[2:]
        found.setdefault(slot.message, set()).update(inside[:depth] for depth in range(1, len(inside) + 1))
    return found


def _tool_order(ref: str, event: int | None, tools: Json) -> ToolOrder:
    offered = tools if isinstance(tools, list) else []
    return ToolOrder(f"{ref}/order", tuple(map(_name_of, offered)), other_orders(offered), event)


def _name_of(tool: Json) -> str:
    """What a tool is called, in any provider's shape."""
    if not isinstance(tool, dict):
        return "?"
    for holder in (tool.get("function"), tool.get("custom"), tool):
        for key in ("name", "server_label", "type"):
            name = holder.get(key) if isinstance(holder, dict) else None
            if isinstance(name, str):
                return name
    return "?"


@dataclass(frozen=True, slots=True)
class _Where:
    """Where a span is to become a piece."""

    ref: str
    parameter: str | None
    parent: int | None = None


class _Growing:
    """The pieces so far."""

    def __init__(self, slots: Sequence[Slot], origins: Sequence[Origin]) -> None:
        self.pieces: list[Piece] = []
        self.leaves: list[int] = []
        self.left_out: dict[NotExamined, None] = {}
        self._slots = slots
        self._origins = {(origin.index, origin.block): origin for origin in origins}
        self._task = next((slot.message for slot in slots if slot.kind == "user"), None)
        self._texts = Counter(slot.message for slot in slots if slot.kind in _NOTED)
        self._seen: Counter[int] = Counter()
        self._named: Counter[str] = Counter()

    def leave_out(self, ref: str, reason: str) -> None:
        """Note that something is not examined."""
        self.left_out[NotExamined(ref, reason)] = None

    def ref(self, message: int) -> str:
        """How the refs of a message's pieces begin."""
        origin = self._origins.get((message, None))
        where = {OUTSIDE: "system", TOOLS: "tools"}.get(message, str(message))
        return f"{origin.event if origin else 0}[{where}]"

    def event(self, message: int) -> int | None:
        """The event that first brought a message; None where that is not known."""
        origin = self._origins.get((message, None))
        return origin.event if origin else None

    def add_slot(self, at: int, tree: Tree) -> None:
        """Append the pieces of one slot."""
        root = Span("paragraph", "", 0, len(tree.text), "", tree.spans, tree.count)
        self._add(at, root, "message", _Where(self._ref_of(self._slots[at]), self._slots[at].parameter))

    def _ref_of(self, slot: Slot) -> str:
        match slot.kind:
            case "tool_definition":
                named = [_segment(slot.tool), *([_segment(slot.parameter)] if slot.parameter else [])]
                return self._unused("/".join((self.ref(TOOLS), *named)))
            case "tool_arguments":
                return self._unused(f"{self.ref(slot.message)}/{_segment(slot.tool)}")
            case _:
                self._seen[slot.message] += 1
                ref = self.ref(slot.message)
                return f"{ref}/b{self._seen[slot.message]}" if self._texts[slot.message] > 1 else ref

    def _unused(self, ref: str) -> str:
        self._named[ref] += 1
        return ref if self._named[ref] == 1 else f"{ref}~{self._named[ref]}"

    def _origin(self, slot: Slot) -> Origin | None:
        message = TOOLS if slot.kind == "tool_definition" else slot.message
        whole = self._origins.get((message, None))
        return self._origins.get((message, slot.block), whole) if slot.kind == "tool_result" else whole

    def _add(self, at: int, span: Span, kind: PieceKind, where: _Where) -> int:
        slot = self._slots[at]
        arguments = slot.kind == "tool_arguments"
        while len(span.children) == 1 and not (arguments and span.children[0].kind == "item"):
            # A level with one thing in it would only make the ref longer; an argument keeps its name.
            span = span.children[0]
            kind = kind if kind == "message" else span.kind
        origin = self._origin(slot)
        index = len(self.pieces)
        piece = Piece(
            ref=where.ref,
            kind=kind,
            slot=at,
            start=span.start,
            end=span.end,
            text=slot.text[span.start : span.end] if span.children else span.text,
            parent=where.parent,
            children=(),
            role=slot.kind,
            event=origin.event if origin else None,
            tool=slot.tool or (origin.tool if origin and slot.kind == "tool_result" else None),
            pinned=slot.kind in {"system", "tool_definition"} or (slot.kind == "user" and slot.message == self._task),
            parameter=where.parameter,
            call=origin.call if origin else None,
            writer=origin.writer if origin else None,
        )
        self.pieces.append(piece)
        if span.children:
            below: list[int] = []
            for child in span.children:
                inside = where.parameter
                if arguments and child.kind == "item":
                    inside = child.name if inside is None else f"{inside}.{child.name}"
                below.append(self._add(at, child, child.kind, _Where(f"{where.ref}/{child.name}", inside, index)))
            self.pieces[index] = replace(piece, children=tuple(below))
        else:
            self.leaves.append(index)
        return index


def _segment(name: str | None) -> str:
    """A name as a path segment."""
    bare = "".join(c if c.isalnum() or c in "_.-" else "_" for c in (name or "")[:_NAME_LENGTH]).strip("_")
    return bare or "tool"
