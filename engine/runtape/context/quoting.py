"""Where a quotation stands in a context: people and models rarely copy a text character by character."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from .pieces import Context

_LEFT_OUT = re.compile(r"\s*(?:\[\s*(?:\.{3,}|…)\s*\]|\[?…[\d,]+ characters cut…\]?|\(\.{3,}\)|\.{3,}|…)\s*")
"""Marks for words that were left out, those of our own pages among them."""

_INSIDE_WORDS = 5
"""Letters of a text that is looked for inside words; shorter ones are there by chance."""


class Quotable:
    """A context in which quotations are looked for.

    Letters and digits of a quotation have to agree with the text, in order; white space, letter case, punctuation,
    quotation marks, markup and bullets need not. A quotation may be part of a sentence, run over several, stand in
    several places (all are meant), and leave words out where it has an ellipsis. One that fits whole words somewhere is
    not looked for inside words.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        # As they are read, then as they are sent: with the keys, tags and parts that belong to no leaf.
        self._readings = (list(_texts_read(context)), list(_texts_sent(context)))

    def leaves(self, quote: str) -> list[int]:
        """Positions in `Context.leaves` of the texts that a quotation touches, in context order."""
        parts = _parts(quote)
        if not parts:
            return self._exactly("".join(quote.split()))
        for whole_words in (True, False) if max(map(len, parts)) >= _INSIDE_WORDS else (True,):
            for runs in self._readings:
                found = {leaf for run in runs for leaf in run.touched(parts, whole_words=whole_words)}
                if found:
                    return sorted(found)
        return []

    def holds(self, quote: str) -> bool:
        """True when the request has the text somewhere, be it in a part that no leaf covers."""
        parts = _parts(quote)
        sent = self._readings[1]
        return bool(parts) and any(True for run in sent for _ in run.places(parts, whole_words=True))

    def _exactly(self, wanted: str) -> list[int]:
        """Leaves that hold a quotation without letters or digits."""
        texts = ("".join(self._context.pieces[leaf].text.split()) for leaf in self._context.leaves)
        return [at for at, text in enumerate(texts) if wanted and wanted in text]


@dataclass(frozen=True, slots=True)
class _Run:
    """The letters and digits of one slot, with the leaf that each belongs to."""

    bare: str
    starts: tuple[int, ...]
    """Where in `bare` each stretch of one owner begins, ascending."""
    leaves: tuple[int, ...]
    """Position in `Context.leaves` of each stretch; -1 for what belongs to none."""
    words: frozenset[int]
    """Where in `bare` words begin; its end too."""

    def touched(self, parts: list[str], *, whole_words: bool) -> Iterator[int]:
        """Leaves under each place where the parts follow each other, the shortest such places only."""
        places = list(self.places(parts, whole_words=whole_words))
        shortest = min((place[-1][1] - place[0][0] for place in places), default=0)
        for place in places:
            if place[-1][1] - place[0][0] > shortest:
                continue
            for start, end in place:
                first, last = bisect_right(self.starts, start) - 1, bisect_left(self.starts, end)
                yield from (leaf for leaf in self.leaves[first:last] if leaf >= 0)

    def places(self, parts: list[str], *, whole_words: bool) -> Iterator[list[tuple[int, int]]]:
        """Start and end of each part, for each place where they follow each other as closely as they can."""
        at = 0
        while True:
            place: list[tuple[int, int]] = []
            for part in parts:
                at = self._find(part, at, whole_words=whole_words)
                if at < 0:
                    return
                place.append((at, at + len(part)))
                at += len(part)
            for number in range(len(parts) - 2, -1, -1):
                # The last one before what follows: so the text is walked through a fixed number of times.
                start, end = place[number][0], place[number + 1][0]
                closest = self._find_last(parts[number], start, end, whole_words=whole_words)
                place[number] = (closest, closest + len(parts[number]))
            yield place
            at = place[0][0] + 1

    def _find(self, part: str, at: int, *, whole_words: bool) -> int:
        found = self.bare.find(part, at)
        while whole_words and found >= 0 and not (found in self.words and found + len(part) in self.words):
            found = self.bare.find(part, found + 1)
        return found

    def _find_last(self, part: str, start: int, end: int, *, whole_words: bool) -> int:
        found = self.bare.rfind(part, start, end)
        while whole_words and found > start and not (found in self.words and found + len(part) in self.words):
            found = self.bare.rfind(part, start, found + len(part) - 1)
        return found


def _texts_read(context: Context) -> Iterator[_Run]:
    """The leaves of each slot as they are read, escapes resolved, one after another."""
    for at in range(len(context.slots)):
        leaves = _leaves_of(context, at)
        yield _run([(context.pieces[context.leaves[leaf]].text, leaf) for leaf in leaves])


def _texts_sent(context: Context) -> Iterator[_Run]:
    """Each slot as it stands in the request, with keys, tags and all that belongs to no leaf."""
    for at, slot in enumerate(context.slots):
        parts: list[tuple[str, int]] = []
        end = 0
        for leaf in _leaves_of(context, at):
            piece = context.pieces[context.leaves[leaf]]
            parts += [(slot.text[end : piece.start], -1), (slot.text[piece.start : piece.end], leaf)]
            end = max(end, piece.end)
        yield _run([*parts, (slot.text[end:], -1)])


def _leaves_of(context: Context, slot: int) -> range:
    first = context.first_leaf[slot]
    last = context.first_leaf[slot + 1] if slot + 1 < len(context.first_leaf) else len(context.leaves)
    return range(first, last)


def _run(parts: list[tuple[str, int]]) -> _Run:
    bare: list[str] = []
    starts: list[int] = []
    leaves: list[int] = []
    words: set[int] = set()
    length = 0
    for text, leaf in parts:
        starts.append(length)
        leaves.append(leaf)
        words.add(length)
        inside = False
        for char in unicodedata.normalize("NFKC", text).casefold():
            if not char.isalnum():
                # A mark that changes the letter before it (Hindi, Thai) ends no word.
                if not (inside and unicodedata.category(char)[0] == "M"):
                    words.add(length)
                    inside = False
                continue
            if not inside:
                words.add(length)
            bare.append(char)
            length += 1
            inside = not _stands_alone(char)
            if not inside:
                words.add(length)
    words.add(length)
    return _Run("".join(bare), tuple(starts), tuple(leaves), frozenset(words))


def _stands_alone(char: str) -> bool:
    """True in scripts without blanks between words."""
    return char >= "\u2e80" or "\u0e00" <= char <= "\u0fff"


def _parts(quote: str) -> list[str]:
    return [bare for part in _LEFT_OUT.split(quote) if (bare := _bare(part))]


def _bare(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())
