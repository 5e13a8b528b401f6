"""What can be changed in a recorded request before it is sent again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from .marking import Style


@dataclass(frozen=True, slots=True)
class Drop:
    """Leave out one piece of the context, with everything below it."""

    ref: str


@dataclass(frozen=True, slots=True)
class Replace:
    """Put `new` for every occurrence of `old` in the context's text."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class SetSystem:
    """Use `text` as the whole system prompt."""

    text: str


@dataclass(frozen=True, slots=True)
class AddSystem:
    """Append `text` to the system prompt, as a paragraph of its own."""

    text: str


@dataclass(frozen=True, slots=True)
class Clean:
    """Leave out every occurrence of `text` in what tools returned."""

    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """Mark what tools returned as data; see `marking`."""

    style: Style


@dataclass(frozen=True, slots=True)
class Describe:
    """Use `text` as the description of a tool."""

    tool: str
    text: str


@dataclass(frozen=True, slots=True)
class SetModel:
    """Ask another model of the same API."""

    name: str


@dataclass(frozen=True, slots=True)
class ReorderTools:
    """Offer the tools in another order."""

    order: tuple[int, ...]
    """For each place in the new list, the index of the tool in the recorded one."""


Edit: TypeAlias = Drop | Replace | SetSystem | AddSystem | Clean | Mark | Describe | SetModel | ReorderTools
Variant: TypeAlias = frozenset[Edit]
"""A request with these edits; the empty set is the request as recorded."""


def by_place(edits: Iterable[Edit]) -> bool:
    """Whether one of the edits leaves a piece out: that shows where a cause stands, and has no meaning elsewhere."""
    return any(isinstance(edit, Drop) for edit in edits)
