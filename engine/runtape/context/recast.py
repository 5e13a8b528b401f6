"""A recorded request in which some of its text stands elsewhere, or says the same in other words.

A text stays within what it is part of: prose goes before the first or behind the last words of the same text (the same
string, where the text is JSON), or behind the last words of another tool result. Everything else stays as recorded.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeAlias

from ..wire.dialects import dialect_for
from ..wire.values import Request
from .literals import parse
from .pieces import PLACEHOLDER, Context
from .spans import Span, Tree, without
from .split import split

Place: TypeAlias = Literal["start", "end", "elsewhere"]
"""First or last in the text that it stands in, or last in another tool result."""
PLACES: tuple[Place, ...] = ("start", "end", "elsewhere")

NOT_TEXT = "it is no text of a message or a tool result"
_MOVABLE = frozenset({"system", "user", "assistant", "tool_result"})


def moved(context: Context, refs: Sequence[str], place: Place) -> Request | str:
    """The request with some pieces in another place, or why there is no such request.

    Args:
        context: The recorded context.
        refs: References of leaves; what they say moves together, as one text.
        place: Where it goes.
    """
    cause = _found(context, refs)
    if cause is None:
        return NOT_TEXT
    if place == "elsewhere":
        return _elsewhere(context, cause)
    slot = cause.slot
    words = _words(context.trees[slot])
    mine = words[cause.leaves[slot][0]]
    text = [number for number, word in enumerate(words) if word.is_prose and word.within == mine.within]
    gone = [number for number in text if number in cause.leaves[slot]]
    if not mine.is_prose or len(gone) == len(text):
        return "it is all of the text that it stands in"
    if gone == (text[: len(gone)] if place == "start" else text[-len(gone) :]):
        return f"it stands at the {place} of its text already"
    return _written(context, cause, slot, partial(_put_in, within=mine.within, text=cause.text, place=place))


def reworded(context: Context, refs: Sequence[str], words: str) -> Request | str:
    """The request with `words` in place of some pieces, or why there is no such request."""
    cause = _found(context, refs)
    if cause is None:
        return NOT_TEXT
    slot, [first, *_] = cause.slot, cause.leaves[cause.slot]
    span = _words(context.trees[slot])[first]
    if not span.is_prose:
        return "it is a value and no sentence"
    if words.strip() == cause.text.strip():
        return "it is the recorded text"
    rest = replace(cause, leaves={**cause.leaves, slot: cause.leaves[slot][1:]})
    return _written(context, rest, slot, partial(_put_for, number=first, was=span, words=words))


@dataclass(frozen=True, slots=True)
class _Cause:
    text: str
    slot: int
    """The slot of its first leaf."""
    leaves: dict[int, list[int]]
    """By slot, the numbers of its leaves there."""


@dataclass(frozen=True, slots=True)
class _Word:
    """A leaf and the strings that it stands in."""

    span: Span
    within: tuple[str, ...]
    """Names of the spans down to the innermost string around it; none where the whole text is prose."""
    quotes: tuple[str, ...]
    """The quotation mark of each string around it, outermost first."""

    @property
    def is_prose(self) -> bool:
        return self.span.kind != "item"


def _found(context: Context, refs: Iterable[str]) -> _Cause | None:
    wanted = dict.fromkeys(refs)
    pieces = {ref: index for index in context.leaves if (ref := context.pieces[index].ref) in wanted}
    if not wanted or len(pieces) < len(wanted):
        return None
    leaves: dict[int, list[int]] = defaultdict(list)
    position = {index: at for at, index in enumerate(context.leaves)}
    for index in sorted(pieces.values()):
        slot = context.pieces[index].slot
        if context.slots[slot].kind not in _MOVABLE or context.slots[slot].form != "text":
            return None
        leaves[slot].append(position[index] - context.first_leaf[slot])
    text = "\n".join(context.pieces[pieces[ref]].text for ref in wanted)
    return _Cause(text, min(leaves), dict(leaves))


def _elsewhere(context: Context, cause: _Cause) -> Request | str:
    """The text at the end of the longest text of the nearest other tool result."""
    if context.slots[cause.slot].kind != "tool_result":
        return "it did not come from a tool"
    others = [
        at
        for at, slot in enumerate(context.slots)
        if slot.kind == "tool_result" and slot.form == "text" and at not in cause.leaves
    ]
    for at in sorted(others, key=lambda at: (abs(at - cause.slot), at)):
        lengths: dict[tuple[str, ...], int] = defaultdict(int)
        for word in _words(context.trees[at]):
            if word.is_prose:
                lengths[word.within] += len(word.span.text)
        if lengths:
            within = max(lengths, key=lambda names: lengths[names])
            return _written(context, cause, at, partial(_put_in, within=within, text=cause.text, place="end"))
    return "no other tool result holds a text"


def _written(context: Context, cause: _Cause, slot: int, put: Callable[[Tree], str | None]) -> Request | str:
    """The request without the leaves of the cause, and with the new text of one slot."""
    texts = {at: without(context.trees[at], gone) for at, gone in cause.leaves.items() if gone}
    text = put(split(texts.get(slot, context.slots[slot].text)))
    if text is None or (_is_json(context.slots[slot].text) and not _is_json(text)):
        return "the text around it cannot be taken apart without it"
    dialect, body = dialect_for(context.request.api), context.request.body
    for at, new in {**texts, slot: text}.items():
        body = dialect.put(body, context.slots[at], new if new.strip() else PLACEHOLDER)
    return replace(context.request, body=body)


def _put_in(tree: Tree, within: tuple[str, ...], text: str, place: Place) -> str | None:
    """The text of the tree with another one at the start or the end of one of its strings."""
    words = [word for word in _words(tree) if word.is_prose and word.within == within]
    if not words:
        return None
    first, last = words[0], words[-1]
    inside = tree.text[first.span.start : last.span.end]
    between = "\n" if "\n" in inside or "\\n" in inside else " "
    if place == "start":
        return _insert(tree.text, first.span.start, _spelled(text + between, first.quotes))
    return _insert(tree.text, last.span.end, _spelled(between + text, last.quotes))


def _put_for(tree: Tree, number: int, was: _Word, words: str) -> str | None:
    """The text of the tree with other words for one of its leaves."""
    found = _words(tree)
    if number >= len(found) or found[number].span.text != was.span.text:
        return None
    span = found[number].span
    return tree.text[: span.start] + _spelled(words, found[number].quotes) + tree.text[span.end :]


def _insert(text: str, at: int, new: str) -> str:
    return text[:at] + new + text[at:]


def _words(tree: Tree) -> list[_Word]:
    """The leaves of a tree, counted as `without` counts them."""
    start = tree.text.lstrip()[:1]
    # A text that is one string of JSON has no item around its words.
    quotes = (start,) if start in {'"', "'"} and parse(tree.text, lambda _: ()) is not None else ()
    return list(_below(tree.text, tree.spans, (), (), quotes))


def _below(
    text: str, spans: Sequence[Span], path: tuple[str, ...], within: tuple[str, ...], quotes: tuple[str, ...]
) -> Iterator[_Word]:
    for span in spans:
        here = (*path, span.name)
        if not span.children:
            yield _Word(span, within, quotes)
        elif span.kind == "item" and span.children[0].kind != "item":
            yield from _below(text, span.children, here, here, (*quotes, text[span.end - 1]))
        else:
            yield from _below(text, span.children, here, within, quotes)


def _spelled(text: str, quotes: Sequence[str]) -> str:
    """The text as it is written inside strings of JSON, or of the `repr` of Python values."""
    for quote in reversed(quotes):
        text = json.dumps(text, ensure_ascii=False)[1:-1]
        if quote == "'":
            text = text.replace('\\"', '"').replace("'", "\\'")
    return text


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
