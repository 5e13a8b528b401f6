"""Many searches of one row, summed up as a line of a table."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np

from runtape.stats.rates import wilson

from .play import Score, play
from .rows import Goal, Row

HEADINGS = (
    "| world | exact % | headline % | inputs % | false % | interval holds % | calls median / p90 | contexts | waves "
    "| ms CPU | other answers | goal |\n|---|---|---|---|---|---|---|---|---|---|---|---|"
)

PART = 10
"""Worlds that one worker plays at a time."""

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
    drops: int
    """Right claims."""
    covered: int
    """Those whose interval holds the true drop."""
    calls: float
    calls90: float
    contexts: float
    waves: float
    milliseconds: float
    """CPU of search and simulation together, mean."""
    answers: Counter[str]
    worlds: int

    def misses(self, goal: Goal) -> list[str]:
        """The parts of a goal that are not reached."""
        at_least = {"exact": (self.exact, goal.exact), "inputs": (self.required, goal.required)}
        at_most = {
            "calls": (self.calls, goal.calls),
            "p90": (self.calls90, goal.calls90),
            "contexts": (self.contexts, goal.contexts),
            "waves": (self.waves, goal.waves),
            "ms": (self.milliseconds, goal.ms),
            "false": (self.false_limit, goal.false),
        }
        low = [name for name, (got, limit) in at_least.items() if limit is not None and (got or 0.0) < limit - ROUNDING]
        high = [name for name, (got, limit) in at_most.items() if limit is not None and got > limit + ROUNDING]
        if goal.answer:
            wanted, least = goal.answer
            share = 100 * self.answers[wanted] / self.worlds
            low += [wanted] if share < least - ROUNDING else []
        return low + high


def measure(row: Row, seeds: Sequence[int], workers: Executor) -> Result:
    """Plays a row once per seed."""
    parts = [seeds[at : at + PART] for at in range(0, len(seeds), PART)]
    played = list(workers.map(_play, [(row, part) for part in parts]))
    scores = [score for part, _ in played for score in part]
    spent = sum(seconds for _, seconds in played)
    return summed_up(scores, spent)


def _play(job: tuple[Row, Sequence[int]]) -> tuple[list[Score], float]:
    """Some worlds of a row, and the CPU seconds they took."""
    row, seeds = job
    started = time.process_time()
    scores = [play(row.spec, row.settings, seed) for seed in seeds]
    return scores, time.process_time() - started


def summed_up(scores: Sequence[Score], seconds: float) -> Result:
    """Many scores as one line's figures."""
    calls = np.array([score.calls for score in scores])
    return Result(
        exact=_percent([score.exact for score in scores]),
        headline=_percent([score.headline for score in scores]),
        required=_mean([score.required for score in scores]),
        false=_percent([score.false for score in scores]),
        false_limit=100 * wilson(sum(score.false for score in scores), len(scores)).high,
        drops=sum(score.drops for score in scores),
        covered=sum(score.covered for score in scores),
        calls=float(np.median(calls)),
        calls90=float(np.percentile(calls, 90)),
        contexts=float(np.median([score.contexts for score in scores])),
        waves=float(np.median([score.waves for score in scores])),
        milliseconds=1000 * seconds / len(scores),
        worlds=len(scores),
        answers=Counter(score.status for score in scores if score.status != "found"),
    )


def line(name: str, row: Row, result: Result) -> str:
    """One line of the table."""
    misses = result.misses(row.goal)
    asked = row.goal != Goal()
    cells = [
        name,
        figure(result.exact if row.spec.family != "null" else None),
        figure(result.headline if row.spec.family != "null" else None),
        figure(result.required),
        f"{figure(result.false)} (at most {figure(result.false_limit)})",
        figure(100 * result.covered / result.drops if result.drops else None),
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


def figure(value: float | None) -> str:
    """A percentage with at most one decimal."""
    return "-" if value is None else f"{value:.1f}".removesuffix(".0")
