"""Conditions on arguments as people write them: `amount > 1000 and currency in ["EUR", "USD"]`.

    condition   any of terms with `or`, which bind weaker than `and`, which binds weaker than `not`; brackets
    term        a value alone, or two with one of == != < <= > >= in, not in, contains, matches between them
    value       a path, a text in quotes, a number, true, false, null, or a list of such: [1, "two"]
    path        amount, order.items[0].price, $["order id"], /order/items/0 (JSON pointer); $ is all arguments

Nothing of it is ever run as code. The language is complete here: no functions, no arithmetic, no assignment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .. import canon
from ..errors import BadInput
from ..text import shorten, visible
from ..wire.values import Json
from .canonical import canonical_value
from .condition import Any, Compares, Condition, Equals, Every, Holds, Is, Literally, Matches, Not, Operand, Term
from .paths import POINTER, WRITTEN, dotted, pointer, unquoted
from .pattern import compiled

LONGEST = 2000
"""Characters of a condition."""
DEEPEST = 30
"""Brackets and `not` inside each other."""

_KEYWORDS = ("and", "or", "not", "in", "contains", "matches", "true", "false", "null")
_TOKEN = re.compile(
    r"\s*(?:"
    rf"(?P<word>(?:{'|'.join(_KEYWORDS)})(?![\w$.-]))"
    r"|(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.]))"
    r"|(?P<text>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')"
    rf"|(?P<path>{WRITTEN})"
    rf"|(?P<pointer>{POINTER})"
    r"|(?P<sign>==|!=|<=|>=|[<>()\[\],])"
    r"|(?P<end>$))",
    re.DOTALL,
)
_HINTS = {
    "=": "Write == to compare",
    "&": "Write and",
    "|": "Write or",
    "!": "Write not, or != to compare",
    "True": "Write true",
    "False": "Write false",
    "None": "Write null",
    "AND": "Write and",
    "OR": "Write or",
    "NOT": "Write not",
}
_BETWEEN = ("<", "<=", ">", ">=", "==", "!=", "in", "not", "contains", "matches")
_CLOSING = {"(": ")", "[": "]"}


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int
    """Where it stands in the condition."""

    @property
    def shown(self) -> str:
        return "the end" if self.kind == "end" else repr(shorten(visible(self.text), 40))


def condition(text: str) -> Condition:
    """The condition that a text says.

    Raises:
        BadInput: it is not written in this language; the message points at the place.
    """
    if not text.strip():
        raise BadInput("An empty condition holds for every call. Write one such as amount > 1000.")
    if len(text) > LONGEST:
        raise BadInput(f"The condition has {len(text)} characters; at most {LONGEST} are read. Write a shorter one.")
    asked = Condition(text.strip(), _Reader(text).whole())
    if not asked.paths:
        raise BadInput(f"The condition {shorten(asked.text, 60)!r} names no argument. Write one such as amount > 1000.")
    return asked


class _Reader:
    """Reads one condition from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._next = self._scan()
        self._depth = 0

    def whole(self) -> Term:
        term = self._either()
        if self._next.kind != "end":
            raise self._refused(f"{self._next.shown} is one word too many: join conditions with and, or", self._next)
        return term

    def _either(self) -> Term:
        terms = [self._both()]
        while self._taken("or"):
            terms.append(self._both())
        return terms[0] if len(terms) == 1 else Any(tuple(terms))

    def _both(self) -> Term:
        terms = [self._one()]
        while self._taken("and"):
            terms.append(self._one())
        return terms[0] if len(terms) == 1 else Every(tuple(terms))

    def _one(self) -> Term:
        opening = self._next
        if self._taken("not"):
            self._deeper(opening)
            term: Term = Not(self._one())
            self._depth -= 1
        elif self._taken("("):
            self._deeper(opening)
            term = self._either()
            self._close(opening)
            self._depth -= 1
        else:
            term = self._test()
        return term

    def _test(self) -> Term:
        left = self._operand()
        sign = self._next
        if sign.text not in _BETWEEN or sign.kind not in ("sign", "word"):
            return Is(left)
        self._advance()
        if sign.text == "not":
            if not self._taken("in"):
                raise self._refused("after a value, not is only read in `not in`", sign)
            term: Term = Not(Holds(self._operand(), left))
        elif sign.text == "matches":
            term = self._match(left)
        else:
            term = _comparison(left, sign.text, self._operand())
        if self._next.text in _BETWEEN and self._next.kind in ("sign", "word"):
            raise self._refused("comparisons are not chained: write `1 < a and a < 5`", self._next)
        return term

    def _match(self, left: Operand) -> Term:
        token = self._next
        if token.kind != "text":
            raise self._refused("matches needs a regular expression in quotes", token)
        self._advance()
        try:
            return Matches(left, compiled(unquoted(token.text)))
        except BadInput as error:
            raise self._refused(str(error).rstrip("."), token) from error

    def _operand(self) -> Operand:
        token = self._next
        if token.kind == "path":
            if token.text in _HINTS:
                raise self._refused(
                    f"{token.text} is no word of conditions, and a key of that name is $.{token.text}", token
                )
            self._advance()
            return dotted(token.text)
        if token.kind == "pointer":
            self._advance()
            return pointer(token.text)
        return Literally(canonical_value(self._literal()))

    def _literal(self) -> Json:
        token = self._next
        self._advance()
        match token.kind, token.text:
            case "number", digits:
                return self._number(token, digits)
            case "text", quoted:
                return unquoted(quoted)
            case "word", "true":
                return True
            case "word", "false":
                return False
            case "word", "null":
                return None
            case "sign", "[":
                return self._list(token)
            case _:
                raise self._refused(f"a value is missing before {token.shown}", token)

    def _number(self, token: _Token, digits: str) -> Json:
        value = canon.loads(digits)
        if value is None:
            raise self._refused("the number is too large to be compared", token)
        return value

    def _list(self, opening: _Token) -> Json:
        self._deeper(opening)
        items: list[Json] = []
        while self._next.text != "]" or self._next.kind != "sign":
            if self._next.kind in ("path", "pointer"):
                raise self._refused("a list holds numbers, texts in quotes, true, false and null only", self._next)
            items.append(self._literal())
            if not self._taken(","):
                break
        self._close(opening)
        self._depth -= 1
        return items

    def _close(self, opening: _Token) -> None:
        if not self._taken(_CLOSING[opening.text]):
            raise self._refused(f"there is no {_CLOSING[opening.text]!r} for the {opening.text!r} here", opening)

    def _deeper(self, token: _Token) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._refused(f"more than {DEEPEST} brackets or not stand inside each other", token)

    def _taken(self, text: str) -> bool:
        taken = self._next.text == text and self._next.kind in ("sign", "word")
        if taken:
            self._advance()
        return taken

    def _advance(self) -> None:
        self._next = self._scan()

    def _scan(self) -> _Token:
        found = _TOKEN.match(self._text, self._at)
        if found is None or found.lastgroup is None:
            start = len(self._text) - len(self._text[self._at :].lstrip())
            raise self._unreadable(start)
        self._at = found.end()
        return _Token(found.lastgroup, found[found.lastgroup], found.start(found.lastgroup))

    def _unreadable(self, start: int) -> BadInput:
        char = self._text[start]
        token = _Token("", char, start)
        if char in "\"'":
            return self._refused("this text has no closing quote", token)
        return self._refused(_HINTS.get(char, f"{char!r} cannot be read"), token)

    def _refused(self, why: str, token: _Token) -> BadInput:
        hint = _HINTS.get(token.text)
        said = why if hint is None or hint in why else f"{hint}: {why}"
        before, after = self._text[: token.at], self._text[token.at :]
        shown = visible(f"{shorten(before, 80)} >>> {shorten(after, 80)}".strip())
        return BadInput(f"The condition cannot be read at character {token.at + 1}: {said}. Here: {shown}")


def _comparison(left: Operand, sign: str, right: Operand) -> Term:
    match sign:
        case "==":
            return Equals(left, right)
        case "!=":
            return Not(Equals(left, right))
        case "in":
            return Holds(right, left)
        case "contains":
            return Holds(left, right)
        case "<" | "<=" | ">" | ">=":
            return Compares(left, sign, right)
        case _:
            raise AssertionError(sign)
