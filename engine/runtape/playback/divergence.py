"""How what the agent does now differs from what it did when it was recorded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from ..canon import dumps
from ..text import shorten, visible
from ..wire.values import Json

SHOWN = 5
"""Differences told in full; the rest is counted."""

COMPARED = 200
"""Differences counted before two values are called far apart: only the nearest recorded call matters."""

EXCERPT = 160
"""Characters shown of a value."""

BEFORE = 40
"""Of these, characters of a text before the place where it begins to differ."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two values differ."""

    path: str
    """As in `messages[4].content`."""
    recorded: str
    now: str


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first step that is not in the record."""

    step: str
    """What the agent did, such as `model call 3` or `tool call of refund`."""
    reason: str
    nearest: int | None = None
    """The event of the recorded step most like it; None when none is left."""
    differences: tuple[Difference, ...] = ()
    more: int = 0
    """Further differences, counted up to a limit."""

    def __str__(self) -> str:
        lines = [f"{self.step}: {self.reason}"]
        if self.nearest is not None:
            lines.append(f"nearest recorded: event {self.nearest}")
        for difference in self.differences:
            lines += [f"  {difference.path}", f"    recorded: {difference.recorded}", f"    now:      {difference.now}"]
        if self.more:
            lines.append(f"  and {self.more} more")
        return "\n".join(lines)


class Stop(BaseException):
    """Ends the agent at a divergence. No Exception: agents and SDKs catch those and try again."""

    def __init__(self, divergence: Divergence, process: int | None = None) -> None:
        self.divergence = divergence
        self.process = os.getpid() if process is None else process
        """Where it was raised: a pool of processes hands on what its workers raise."""
        super().__init__(divergence, self.process)

    def __str__(self) -> str:
        return str(self.divergence)


def differences(recorded: Json, now: Json) -> list[Difference]:
    """The places where two values differ, in the order of the recorded one; at most `COMPARED`."""
    found: list[Difference] = []
    for difference in _differences(recorded, now, ""):
        found.append(difference)
        if len(found) == COMPARED:
            break
    return found


def _differences(recorded: Json, now: Json, path: str) -> Iterator[Difference]:
    if isinstance(recorded, dict) and isinstance(now, dict):
        for key in [*recorded, *(key for key in now if key not in recorded)]:
            place = f"{path}.{visible(key)}" if path else visible(key)
            if key not in now:
                yield Difference(place, _shown(recorded[key]), "(not there)")
            elif key not in recorded:
                yield Difference(place, "(not there)", _shown(now[key]))
            else:
                yield from _differences(recorded[key], now[key], place)
    elif isinstance(recorded, list) and isinstance(now, list):
        for index, (before, after) in enumerate(zip(recorded, now, strict=False)):
            yield from _differences(before, after, f"{path}[{index}]")
        for index in range(len(now), len(recorded)):
            yield Difference(f"{path}[{index}]", _shown(recorded[index]), "(not there)")
        for index in range(len(recorded), len(now)):
            yield Difference(f"{path}[{index}]", "(not there)", _shown(now[index]))
    elif isinstance(recorded, str) and isinstance(now, str):
        if recorded != now:
            start = max(0, _first_difference(recorded, now) - BEFORE)
            yield Difference(path, _excerpt(recorded, start), _excerpt(now, start))
    elif dumps(recorded) != dumps(now):
        yield Difference(path, _shown(recorded), _shown(now))


def _first_difference(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _excerpt(text: str, start: int) -> str:
    cut = text[start : start + EXCERPT]
    head, tail = "…" if start else "", "…" if start + EXCERPT < len(text) else ""
    return f"{head}{visible(cut)}{tail}".replace("\n", "\\n")


def _shown(value: Json) -> str:
    return shorten(visible(dumps(value).decode()), EXCERPT)
