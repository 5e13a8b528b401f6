"""Plain text as spans: paragraphs, lines that stand alone, comments, sentences."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .cells import cells
from .lines import BULLET, units
from .markup import LINE_TAG, comments, inside, is_tags_only, unwrapped
from .sentences import sentences
from .spans import Span, inner
from .weight import ENOUGH, reads_as_prose, weight

Range = tuple[int, int]
Nested = Callable[[str], Sequence[Span]]
"""The spans of a paragraph or line that is a literal; nothing for any other text."""

_NEWLINE = re.compile(r"\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)[^`]*")
_FENCE_ENDS = frozenset({"```", "~~~", "````", "~~~~"})


def split_blocks(text: str, nested: Nested) -> list[Span]:
    """The paragraphs of a text, each with its lines and sentences as deep as they go.

    A paragraph ends at a blank line. Comments and fenced code stay whole across blank lines.
    """
    return _Blocks(text, nested).within(0, len(text), comments(text, 0, len(text)))


@dataclass(slots=True)
class _Paragraph:
    lines: list[Range]
    fenced: bool = False

    @property
    def extent(self) -> Range:
        return self.lines[0][0], self.lines[-1][1]


class _Blocks:
    def __init__(self, text: str, nested: Nested) -> None:
        self.text = text
        self.nested = nested

    def within(self, start: int, end: int, hidden: list[Range]) -> list[Span]:
        """The paragraphs between two offsets; `hidden` are the comments there."""
        spans: list[Span] = []
        for paragraph in self._paragraphs(self._lines(start, end, hidden)):
            lines = paragraph.lines[1:-1] if paragraph.fenced else paragraph.lines
            children = self._paragraph(lines, hidden) if lines else []
            if children:
                spans.append(inner("paragraph", f"p{len(spans) + 1}", *paragraph.extent, children))
        return spans

    def _lines(self, start: int, end: int, hidden: list[Range]) -> Iterator[Range]:
        """Lines without their ends; a comment over several lines is part of one line."""
        opened = [comment[0] for comment in hidden]
        begin = start
        for newline in _NEWLINE.finditer(self.text, start, end):
            comment = bisect_right(opened, newline.start()) - 1
            if comment >= 0 and newline.start() < hidden[comment][1]:
                continue
            yield begin, newline.start()
            begin = newline.end()
        yield begin, end

    def _paragraphs(self, lines: Iterator[Range]) -> list[_Paragraph]:
        """Lines by paragraph; those that say nothing are left out, and one that says too little joins the next."""
        rows = list(lines)
        fence_ends = [index for index, (start, end) in enumerate(rows) if self.text[start:end].strip() in _FENCE_ENDS]
        found: list[_Paragraph] = []
        current: list[Range] = []
        at = 0
        while at < len(rows):
            line = self.text[slice(*rows[at])]
            closing = bisect_right(fence_ends, at)
            if _FENCE.fullmatch(line) and closing < len(fence_ends):
                found.append(_Paragraph(current))
                found.append(_Paragraph(rows[at : fence_ends[closing] + 1], fenced=True))
                current = []
                at = fence_ends[closing]
            elif line and not line.isspace():
                current.append(rows[at])
            else:
                found.append(_Paragraph(current))
                current = []
            at += 1
        found.append(_Paragraph(current))
        return self._without_fragments(found)

    def _without_fragments(self, paragraphs: list[_Paragraph]) -> list[_Paragraph]:
        kept: list[_Paragraph] = []
        waiting: list[Range] = []
        for paragraph in paragraphs:
            if paragraph.fenced:
                if waiting:
                    kept.append(_Paragraph(waiting))
                kept.append(paragraph)
                waiting = []
            elif self._weight(waiting + paragraph.lines) >= ENOUGH:
                kept.append(_Paragraph(waiting + paragraph.lines))
                waiting = []
            elif self._weight(paragraph.lines):
                waiting = waiting + paragraph.lines
        if waiting and kept and not kept[-1].fenced:
            kept[-1] = _Paragraph(kept[-1].lines + waiting)
        elif waiting:
            kept.append(_Paragraph(waiting))
        return kept

    def _weight(self, ranges: Sequence[Range]) -> int:
        return sum(weight(self.text[start:end]) for start, end in ranges)

    def _paragraph(self, lines: list[Range], hidden: list[Range]) -> list[Span]:
        literal = self._literal(lines[0][0], lines[-1][1])
        if literal:
            return literal
        said = [line for line in lines if weight(self.text[slice(*line)])]
        found: list[Span] = []
        for start, end in self._joined(units(self.text, said)):
            children = self._literal(start, end) or self._line(start, end, hidden)
            if children:
                found.append(inner("paragraph", f"l{len(found) + 1}", start, end, children))
        return list(found[0].children) if len(found) == 1 else found

    def _literal(self, start: int, end: int) -> list[Span]:
        return [span.moved(lambda at: start + at) for span in self.nested(self.text[start:end])]

    def _line(self, start: int, end: int, hidden: list[Range]) -> list[Span]:
        """Sentences and comments of one line, its marker left to the glue."""
        row = cells(self.text, start, end)
        if row:
            return self._row(row)
        marker = BULLET.match(self.text, start, end)
        at = marker.end() if marker else start
        found: list[Span] = []
        comment_count = sentence_count = 0
        first = bisect_right(hidden, (start, start))
        for comment in (*hidden[first : bisect_right(hidden, (end, end))], None):
            for sentence in self._sentences(at, comment[0] if comment else end):
                sentence_count += 1
                found.append(Span("sentence", f"s{sentence_count}", *sentence, self.text[slice(*sentence)]))
            if comment:
                said = self.within(*inside(comment), [])
                if said:
                    comment_count += 1
                    found.append(inner("paragraph", f"c{comment_count}", *comment, said))
                at = comment[1]
        return found

    def _row(self, row: Sequence[Range]) -> list[Span]:
        """Of a CSV row: the sentences of its quoted cells, and the other cells as far as they stand together."""
        found: list[Span] = []
        plain: list[Range] = []

        def gather() -> None:
            if plain and weight(self.text[plain[0][0] : plain[-1][1]]):
                extent = plain[0][0], plain[-1][1]
                found.append(Span("sentence", f"s{len(found) + 1}", *extent, self.text[slice(*extent)]))
            plain.clear()

        for start, end in row:
            said = self._sentences(start + 1, end - 1) if self.text.startswith('"', start, end) else []
            if not said or not reads_as_prose(self.text[start:end]):
                plain.append((start, end))
                continue
            gather()
            inside = [Span("sentence", f"s{at + 1}", *span, self.text[slice(*span)]) for at, span in enumerate(said)]
            found.append(inner("paragraph", f"q{len(found) + 1}", start, end, inside))
        gather()
        return found

    def _sentences(self, start: int, end: int) -> list[Range]:
        """Sentences of a run of text, cut at tags that end a line too; the tags around them are glue."""
        found: list[Range] = []
        begin = start
        for tag in (*LINE_TAG.finditer(self.text, start, end), None):
            until = tag.start() if tag else end
            if not is_tags_only(self.text[begin:until]):
                found.extend(sentences(self.text, *unwrapped(self.text, begin, until)))
            if tag:
                # A tag with attributes may hide words: it stays with the text behind it.
                begin = tag.start() if " " in tag.group() else tag.end()
        return self._joined([unwrapped(self.text, *sentence) for sentence in found])

    def _joined(self, ranges: Sequence[Range]) -> list[Range]:
        """The ranges, each that says too little joined to the next, the last to the one before."""
        kept: list[Range] = []
        begin: int | None = None
        heavy = 0
        for start, end in ranges:
            said = weight(self.text[start:end])
            if not said and begin is None and kept:
                kept[-1] = (kept[-1][0], end)
                continue
            heavy += said
            begin = start if begin is None else begin
            if heavy >= ENOUGH:
                kept.append((begin, end))
                begin, heavy = None, 0
        if begin is not None and kept:
            kept[-1] = (kept[-1][0], ranges[-1][1])
        elif begin is not None and heavy:
            kept.append((begin, ranges[-1][1]))
        return kept
