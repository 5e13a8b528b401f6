"""The recurring phrases of the reports."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import PurePath

from ..stats.rates import wilson
from .document import Line, Recorded

_SHOWN = 3
"""Actions named before the rest is only counted."""


def run_name(trace: str) -> str:
    """What a run is called wherever one is named: its file without the folder and the ending."""
    return PurePath(trace).name.removesuffix(".jsonl")


def of(count: tuple[int, int]) -> str:
    """Such as `9 of 10`."""
    kept, n = count
    return f"{kept} of {n}"


def of_at_most(count: tuple[int, int]) -> str:
    """Such as `0 of 10, at most 28%`: the upper end is that of the share's 95% interval."""
    kept, n = count
    return f"{of(count)}, at most {wilson(kept, n).high:.0%}" if n else of(count)


def of_at_least(count: tuple[int, int]) -> str:
    """Such as `28 of 28, at least 88%`: the lower end is that of the share's 95% interval."""
    kept, n = count
    return f"{of(count)}, at least {wilson(kept, n).low:.0%}" if n else of(count)


def number(count: int, noun: str) -> str:
    """Such as `1 model call` or `12 model calls`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def p_value(p: float) -> str:
    """Such as `0.0035`; below 0.0001 only that."""
    return f"{p:.2g}" if p >= 0.0001 else "under 0.0001"


def it(texts: Sequence[str]) -> str:
    """The pronoun for one text or several."""
    return "it" if len(texts) == 1 else "them"


def evidence(
    with_: tuple[int, int], without: tuple[int, int], interval: tuple[float, float], p: float, meant: str = "it"
) -> str:
    """A drop in words: both counts, their ratio, the drop in points of 100 with its 95% interval, and p.

    `meant` is the pronoun for what was left out. The counts hold every rerun; p is that of the look at which the claim
    was made, before the last of them.
    """
    before, after = _share(with_), _share(without)
    low, high = (round(bound * 100) for bound in interval)
    ratio = f", {after / before:.2f} times as often" if after and before else ""
    return (
        f"{of(with_)} reruns with {meant}, {of(without)} without {meant}{ratio}: "
        f"drop {(before - after) * 100:.0f} points, {low} to {high} (95% interval), "
        f"p = {p_value(p)} at the look that decided"
    )


def actions(instead: Sequence[tuple[str, int]]) -> Line:
    """Such as `calls archive_email (5), answers in text (1)`; `nothing else` for none."""
    if not instead:
        return ("nothing else",)
    named = [(Recorded(action), f" ({count})") for action, count in instead[:_SHOWN]]
    rest = sum(count for _, count in instead[_SHOWN:])
    line = join(named, ", ")
    return (*line, f", something else ({rest})") if rest else line


def join(lines: Sequence[Line], between: str) -> Line:
    """Several lines as one."""
    return tuple(chain.from_iterable((between, *line) if i else line for i, line in enumerate(lines)))


def cost(calls: int, reused: int, requests: int | None = None) -> str:
    """Such as `36 model calls in 22 requests; 10 answers came from the reply cache.`."""
    asked = number(calls, "model call")
    if requests is not None and calls:
        asked += f" in {number(requests, 'request')}"
    return f"{asked}; {number(reused, 'answer')} came from the reply cache." if reused else f"{asked}."


def _share(count: tuple[int, int]) -> float:
    kept, n = count
    return kept / n if n else 0.0
