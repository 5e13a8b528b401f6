"""JSON, and the `repr` of Python values, as spans."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .spans import Span, inner
from .unescaped import ESCAPE, Unescaped, meant
from .weight import reads_as_prose, weight

Prose = Callable[[str], Sequence[Span]]
"""Splits the text of a string value."""

_MAX_DEPTH = 40
_LONG_NUMBERS = 20
_NAME_LENGTH = 24

_SPACE = re.compile(r"\s*")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|\'[^\'\\]*(?:\\.[^\'\\]*)*\'', re.DOTALL)
# A number, `true`, `None`, a dotted name; not a bare sentence, which has spaces.
_WORD = re.compile(r"[^\s,:=\[\]{}()\"'<>\\]+")
_NUMBER = re.compile(r"[-+]?(?:\d[\w.+-]*|inf|nan|Infinity|NaN)")
_CLOSING = {"{": "}", "[": "]", "(": ")"}
_STARTS = re.compile(r"\s*(?:[{\[(\"']|[A-Za-z_][\w.]*\()")
_ENDS = frozenset("}])\"'")


@dataclass(frozen=True, slots=True)
class Literal:
    """A whole text that is one literal."""

    spans: tuple[Span, ...]
    empty: str
    """The literal with nothing in it, such as `{}`."""


def parse(text: str, prose: Prose) -> Literal | None:
    """The members and items of a JSON value or a Python `repr`; None when the text is neither.

    Spans cover whole members (`"a": 1`) and whole items, so that leaving one out with its comma keeps the literal
    valid. String values that read as prose are split by `prose`, in their unescaped form.
    """
    if not _STARTS.match(text) or text.rstrip()[-1] not in _ENDS:
        return None
    try:
        value = _Parser(text, prose).whole()
    except _NotALiteralError:
        return None
    first = text[value.start]
    if first in _CLOSING:
        return Literal(value.children, first + _CLOSING[first])
    if first in "\"'":
        return Literal(value.children, first * 2)
    return Literal(value.children, "")


class _NotALiteralError(Exception):
    """Raised where the text stops being a literal."""


@dataclass(frozen=True, slots=True)
class _Value:
    start: int
    end: int
    children: tuple[Span, ...] = ()


class _Parser:
    def __init__(self, text: str, prose: Prose) -> None:
        self.text = text
        self.prose = prose

    def whole(self) -> _Value:
        value = self._value(self._skip(0), 0)
        if self._skip(value.end) != len(self.text):
            raise _NotALiteralError
        return value

    def _skip(self, at: int) -> int:
        space = _SPACE.match(self.text, at)
        return space.end() if space else at

    def _value(self, at: int, depth: int) -> _Value:
        head = self.text[at : at + 1]
        if head in {'"', "'"}:
            string = _STRING.match(self.text, at)
            if not string:
                raise _NotALiteralError
            return _Value(at, string.end(), self._words(at + 1, string.end() - 1))
        if head in _CLOSING:
            return self._container(at, at, depth)
        word = _WORD.match(self.text, at)
        if not word:
            raise _NotALiteralError
        if self.text[word.end() : word.end() + 1] == "(":
            made = self._container(at, word.end(), depth)
            # `Mail(subject='...')` is worth looking into, `Decimal('1.10')` is one value.
            return made if any(not span.name.isdigit() for span in made.children) else _Value(at, made.end)
        return _Value(at, word.end())

    def _container(self, start: int, bracket: int, depth: int) -> _Value:
        if depth >= _MAX_DEPTH:
            return _Value(start, self._bracketed(bracket))
        closing = _CLOSING[self.text[bracket]]
        spans: list[Span] = []
        names: dict[str, int] = {}
        index = 0
        numbers = True
        at = self._skip(bracket + 1)
        while self.text[at : at + 1] != closing:
            name = str(index)
            value = key = self._value(at, depth + 1)
            end = self._skip(key.end)
            if self.text[end : end + 1] in {":", "="}:
                name = _segment(self.text[key.start : key.end]) or f"k{index}"
                value = self._value(self._skip(end + 1), depth + 1)
                end = self._skip(value.end)
                numbers = False
            elif not _NUMBER.fullmatch(self.text, value.start, value.end):
                numbers = False
            span = self._member(_unused(name, names), key.start, value)
            if span:
                spans.append(span)
            index += 1
            at = end
            if self.text[at : at + 1] == ",":
                at = self._skip(at + 1)
            elif self.text[at : at + 1] != closing:
                raise _NotALiteralError
        if numbers and index > _LONG_NUMBERS:
            # A vector is one value: nobody was persuaded by its 700th number.
            return _Value(start, at + 1)
        return _Value(start, at + 1, tuple(spans))

    def _bracketed(self, at: int) -> int:
        """Where the bracket that opens at `at` is closed, without looking inside."""
        depth = 0
        while True:
            string = _STRING.match(self.text, at)
            c = self.text[at : at + 1]
            if not c or (c in "\"'" and not string):
                raise _NotALiteralError
            at = string.end() if string else at + 1
            depth += (c in "{[(") - (c in ")]}")
            if not depth:
                return at

    def _member(self, name: str, start: int, value: _Value) -> Span | None:
        if value.children:
            return inner("item", name, start, value.end, value.children)
        raw = self.text[start : value.end]
        return Span("item", name, start, value.end, _readable(raw)) if weight(raw) else None

    def _words(self, start: int, end: int) -> tuple[Span, ...]:
        """The units of a string value, in the offsets of this text; none when it is one short value."""
        escaped = self.text[start:end]
        string = Unescaped(escaped, [(*found.span(), meant(found)) for found in ESCAPE.finditer(escaped)])
        if not reads_as_prose(string.text):
            return ()
        return tuple(span.moved(lambda at: start + string.raw(at)) for span in self.prose(string.text))


def _readable(raw: str) -> str:
    """A member as a person reads it: letters that were written as escapes as themselves, structure as it is."""
    if "\\" not in raw:
        return raw
    return ESCAPE.sub(lambda found: found.group() if found.group(6) else meant(found), raw)


def _segment(key: str) -> str:
    """A key as a path segment: letters, digits and `_.-` of its beginning."""
    bare = _readable(key).strip("\"'")
    return "".join(c if c.isalnum() or c in "_.-" else "_" for c in bare[:_NAME_LENGTH]).strip("_")


def _unused(name: str, names: dict[str, int]) -> str:
    """The name, with a number behind it when a sibling has it already; `~` is in no name."""
    names[name] = names.get(name, 0) + 1
    return name if names[name] == 1 else f"{name}~{names[name]}"
