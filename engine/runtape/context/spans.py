"""How one text falls apart into units that can be left out."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

SpanKind = Literal["item", "paragraph", "sentence"]

# White space as it is, and as it is spelled inside JSON strings, also strings inside strings.
_BLANK = re.compile(r"\s|\\+[nrt]")
_LINE_BREAK = re.compile(r"\n|\\n")


@dataclass(frozen=True, slots=True)
class Span:
    """A unit of a text. What lies between its children, and around them, is glue: commas, brackets, markers, space."""

    kind: SpanKind
    name: str
    """Path segment, unique among its siblings, such as `s2`, `body` or `0`."""
    start: int
    end: int
    """What goes when the whole unit goes, as character offsets in the text that was split."""
    text: str = ""
    """What a leaf says, with JSON escapes resolved; empty for an inner span."""
    children: tuple[Span, ...] = ()
    count: int = 1
    """Leaves in it."""

    def moved(self, to: Callable[[int], int]) -> Span:
        """The same span with its offsets translated into the text around it."""
        children = tuple(child.moved(to) for child in self.children)
        return replace(self, start=to(self.start), end=to(self.end), children=children)


def inner(kind: SpanKind, name: str, start: int, end: int, children: Sequence[Span]) -> Span:
    """A span that holds others."""
    return Span(kind, name, start, end, "", tuple(children), sum(child.count for child in children))


@dataclass(frozen=True, slots=True)
class Tree:
    """A text with its spans."""

    text: str
    spans: tuple[Span, ...]
    """The top level, in order."""
    empty: str = ""
    """What is left when every leaf is gone: `{}` for a JSON object, nothing for prose."""

    @property
    def count(self) -> int:
        """Leaves in the tree."""
        return sum(span.count for span in self.spans)

    def leaves(self) -> Iterator[Span]:
        """The spans without children, in order; `without` counts them the same way."""
        stack = list(reversed(self.spans))
        while stack:
            span = stack.pop()
            if span.children:
                stack.extend(reversed(span.children))
            else:
                yield span


def without(tree: Tree, gone: Sequence[int]) -> str:
    """The text with some leaves left out.

    Args:
        tree: what to render.
        gone: numbers of the leaves to leave out, sorted, 0 for the first.

    Returns:
        The text unchanged when nothing is gone. A unit that loses all its leaves goes with its markers, its comma and
        the white space on one side, so that what was JSON stays JSON.
    """
    if not gone:
        return tree.text
    if len(gone) == tree.count:
        return tree.empty
    kept: list[str] = []
    _emit(tree.text, inner("paragraph", "", 0, len(tree.text), tree.spans), 0, gone, kept)
    return "".join(kept)


def _emit(text: str, within: Span, first: int, gone: Sequence[int], out: list[str]) -> None:
    """Append what stays of a span that keeps at least one leaf; `first` is the number of its first leaf."""
    spans = within.children
    last: int | None = None
    for index, span in enumerate(spans):
        low = bisect_left(gone, first)
        lost = bisect_left(gone, first + span.count, low) - low
        first += span.count
        if lost == span.count:
            continue
        if last is None:
            out.append(text[within.start : spans[0].start])
        else:
            gaps = [text[spans[before].end : spans[before + 1].start] for before in range(last, index)]
            out.append(max(reversed(gaps), key=_strength) if len(gaps) > 1 else gaps[0])
        if lost:
            _emit(text, span, first - span.count, gone, out)
        else:
            out.append(text[span.start : span.end])
        last = index
    out.append(text[spans[-1].end : within.end])


def _strength(gap: str) -> tuple[bool, int]:
    """Which of several gaps joins two units: one with marks in it, else the one with the most line breaks.

    A paragraph break so survives the paragraph, and no space is doubled.
    """
    return bool(_BLANK.sub("", gap)), len(_LINE_BREAK.findall(gap))
