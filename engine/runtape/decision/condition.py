"""A condition on the arguments of a tool call: what it means."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from .. import canon
from ..wire.values import Json
from .canonical import same_value
from .paths import ABSENT, Found, Path
from .pattern import Pattern, is_found

Order = Literal["<", "<=", ">", ">="]
_ORDERED: Final[dict[Order, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Literally:
    """A value that the condition itself names."""

    spelled: str
    """Its canonical JSON: equal for equal values, and hashable."""

    @property
    def value(self) -> Json:
        """The value."""
        return canon.loads(self.spelled)


Operand: TypeAlias = "Literally | Path"


@dataclass(frozen=True, slots=True)
class Is:
    """There is a value, and it is neither false, null, 0 nor empty."""

    operand: Operand

    def holds(self, arguments: Json) -> bool:
        """Whether it holds for these arguments."""
        return bool(_present(_value(self.operand, arguments)))


@dataclass(frozen=True, slots=True)
class Equals:
    """Two values are equal as JSON: 1 and 1.0 are, 1 and true are not; what is not there equals null."""

    left: Operand
    right: Operand

    def holds(self, arguments: Json) -> bool:
        """Whether it holds for these arguments."""
        return same_value(_present(_value(self.left, arguments)), _present(_value(self.right, arguments)))


@dataclass(frozen=True, slots=True)
class Compares:
    """Two numbers, or two texts by their characters, stand in an order; values of other types stand in none."""

    left: Operand
    order: Order
    right: Operand

    def holds(self, arguments: Json) -> bool:
        """Whether it holds for these arguments."""
        left, right = _value(self.left, arguments), _value(self.right, arguments)
        match left, right:
            case str(), str():
                one, other = (left > right) - (left < right), 0
                return _ORDERED[self.order](one, other)
            case (bool(), _) | (_, bool()):
                return False
            case ((int() | float()), (int() | float())):
                return _ORDERED[self.order](left, right)
            case _:
                return False


@dataclass(frozen=True, slots=True)
class Holds:
    """A text holds another, a list holds a value, or an object has a key."""

    whole: Operand
    part: Operand

    def holds(self, arguments: Json) -> bool:
        """Whether it holds for these arguments."""
        part = _value(self.part, arguments)
        if part is ABSENT:
            return False
        match _value(self.whole, arguments):
            case str(whole):
                return isinstance(part, str) and part in whole
            case list(items):
                return any(same_value(item, part) for item in items)
            case dict(members):
                return isinstance(part, str) and part in members
            case _:
                return False


@dataclass(frozen=True, slots=True)
class Matches:
    """A regular expression is found in a text, or in the JSON of another value."""

    operand: Operand
    pattern: Pattern

    def holds(self, arguments: Json) -> bool:
        """Whether it holds for these arguments."""
        value = _value(self.operand, arguments)
        if value is ABSENT:
            return False
        return is_found(self.pattern, value if isinstance(value, str) else canon.dumps(value).decode())


@dataclass(frozen=True, slots=True)
class Not:
    """The other way round."""

    term: Term

    def holds(self, arguments: Json) -> bool:
        """Whether it holds for these arguments."""
        return not self.term.holds(arguments)


@dataclass(frozen=True, slots=True)
class Every:
    """All of some terms."""

    terms: tuple[Term, ...]

    def holds(self, arguments: Json) -> bool:
        """Whether it holds for these arguments."""
        return all(term.holds(arguments) for term in self.terms)


@dataclass(frozen=True, slots=True)
class Any:
    """At least one of some terms."""

    terms: tuple[Term, ...]

    def holds(self, arguments: Json) -> bool:
        """Whether it holds for these arguments."""
        return any(term.holds(arguments) for term in self.terms)


Term: TypeAlias = "Is | Equals | Compares | Holds | Matches | Not | Every | Any"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition as it was written, ready to be asked; equal where the meanings are."""

    text: str
    term: Term

    def holds(self, arguments: Json) -> bool:
        """Whether it holds for these arguments.

        Raises:
            BadInput: a regular expression in it takes too long.
        """
        return self.term.holds(arguments)

    @property
    def paths(self) -> tuple[Path, ...]:
        """What it looks at, in the order of the text, each once."""
        return tuple(dict.fromkeys(_paths(self.term)))


def _paths(term: Term) -> Iterator[Path]:
    match term:
        case Every(terms) | Any(terms):
            for part in terms:
                yield from _paths(part)
        case Not(part):
            yield from _paths(part)
        case Is(operand) | Matches(operand, _):
            yield from _named(operand)
        case Equals(left, right) | Compares(left, _, right) | Holds(left, right):
            yield from _named(left)
            yield from _named(right)


def _named(operand: Operand) -> Iterator[Path]:
    if isinstance(operand, Path):
        yield operand


def _value(operand: Operand, arguments: Json) -> Found:
    return operand.find(arguments) if isinstance(operand, Path) else operand.value


def _present(value: Found) -> Json:
    return None if value is ABSENT else value
