"""What a replay of the whole process puts in the place of tools that are decorated for recording."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .stand_in import Make

_substitutes: list[Make] = []


def substitute(make: Make) -> Callable[[], None]:
    """From now on call what `make` gives in place of every recorded tool; returns what ends that."""
    _substitutes.append(make)
    return lambda: _substitutes.remove(make)


def substitutable(tool: Any, title: str, *, is_method: bool) -> Callable[..., Any]:
    """A function that calls `tool`, or its substitute while there is one: replays begin and end after decoration."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if _substitutes:
            return _substitutes[-1](tool, title, is_method=is_method)(*args, **kwargs)
        return tool(*args, **kwargs)

    return call
