"""Many searches of one row, summed up as a line of a table."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from runtape.stats.rates import wilson

from .play import play
from .rows import Goal, Row

HEADINGS = (
    "| world | exact % | headline % | inputs % | false % | interval holds % | calls median / p90 | contexts | waves "
    "| ms CPU | other answers | goal |\n|---|---|---|---|---|---|---|---|---|---|---|---|"
)

ROUNDING = 1e-9
"""A share of exactly the goal reaches it."""


@dataclass(frozen=True, slots=True)
class Result:
    """Shares are percentages; costs are medians."""

    exact: float
    headline: float
    required: float | None
    false: float
    false_limit: float
    """Upper end of the 95% interval of `false`."""
    covered: float | None
    calls: float
    calls90: float
    contexts: float
    waves: float
    milliseconds: float
    """CPU of search and simulation together, mean."""
    answers: Counter[str]

    def misses(self, goal: Goal) -> list[str]:
        """The parts of a goal that are not reached."""
        at_least = {"exact": (self.exact, goal.exact), "inputs": (self.required, goal.required)}
        at_most = {
            "calls": (self.calls, goal.calls),
            "p90": (self.calls90, goal.calls90),
            "contexts": (self.contexts, goal.contexts),
            "waves": (self.waves, goal.waves),
            "false": (self.false_limit, goal.false),
        }
        low = [name for name, (got, limit) in at_least.items() if limit is not None and (got or 0.0) < limit - ROUNDING]
        high = [name for name, (got, limit) in at_most.items() if limit is not None and got > limit + ROUNDING]
        return low + high


def measure(row: Row, seeds: Iterable[int]) -> Result:
    """Plays a row once per seed."""
    started = time.process_time()
    scores = [play(row.spec, row.settings, seed) for seed in seeds]
    spent = time.process_time() - started
    calls = np.array([score.calls for score in scores])
    return Result(
        exact=_percent([score.exact for score in scores]),
        headline=_percent([score.headline for score in scores]),
        required=_mean([score.required for score in scores]),
        false=_percent([score.false for score in scores]),
        false_limit=100 * wilson(sum(score.false for score in scores), len(scores)).high,
        covered=_mean([score.covered for score in scores]),
        calls=float(np.median(calls)),
        calls90=float(np.percentile(calls, 90)),
        contexts=float(np.median([score.contexts for score in scores])),
        waves=float(np.median([score.waves for score in scores])),
        milliseconds=1000 * spent / len(scores),
        answers=Counter(score.status for score in scores if score.status != "found"),
    )


def line(name: str, row: Row, result: Result) -> str:
    """One line of the table."""
    misses = result.misses(row.goal)
    asked = row.goal != Goal()
    cells = [
        name,
        _figure(result.exact if row.spec.family != "null" else None),
        _figure(result.headline if row.spec.family != "null" else None),
        _figure(result.required),
        f"{_figure(result.false)} (at most {_figure(result.false_limit)})",
        _figure(result.covered),
        f"{result.calls:g} / {result.calls90:g}",
        f"{result.contexts:g}",
        f"{result.waves:g}",
        f"{result.milliseconds:.0f}",
        ", ".join(f"{status} {count}" for status, count in sorted(result.answers.items())) or "-",
        ("misses " + ", ".join(misses)) if misses else "reached" if asked else "-",
    ]
    return "| " + " | ".join(cells) + " |"


def _percent(hits: list[bool]) -> float:
    return 100 * sum(hits) / len(hits)


def _mean(shares: list[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return 100 * sum(known) / len(known) if known else None


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}".removesuffix(".0")
