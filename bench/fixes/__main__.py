"""`python -m bench.fixes --seeds 400`: prints the table of bench/results/fixes.md."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass

from runtape.stats.rates import wilson

from .world import FORMS, Played, Truth, World, play

REPORTED_FROM, TUNING_FROM = 7_000_000, 0
"""Nothing may be chosen by looking at the reported seeds; that is what the others are for."""

NOTHING = {f"idle {number}": Truth(bad=1.0) for number in (1, 2, 3)}
"""The other changes of a run, which do nothing."""


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of change, and what should be said of it."""

    truth: Truth
    goal: str
    meets: Callable[[float], bool]
    """Whether a share of PASS is as it should be."""
    base: float = 1.0
    benign: float = 1.0
    harmless: frozenset[str] = frozenset()
    """Forms of the cause that do not lead to the bad call."""

    @property
    def world(self) -> World:
        """The change among others that do nothing."""
        idle = {name: Truth(bad=self.base) for name in NOTHING}
        return World(self.base, self.benign, {"fix": self.truth, **idle}, self.harmless)


ROWS = {
    "removes the bad call, breaks 30% of benign calls": Row(
        Truth(0.0, kept=0.7), "never PASS", lambda share: share == 0
    ),
    "leaves the bad call at 10%": Row(Truth(0.1), "PASS at most 5%", lambda share: share <= 0.05),
    "perfect": Row(Truth(0.0), "PASS at least 95%", lambda share: share >= 0.95),
    "perfect, bad call at 90%, benign at 95%": Row(
        Truth(0.0), "PASS at least 95%", lambda share: share >= 0.95, base=0.9, benign=0.95
    ),
    "perfect, and two forms do not lead to the bad call": Row(
        Truth(0.0), "PASS at least 95%", lambda share: share >= 0.95, harmless=frozenset(FORMS[3:])
    ),
    "removes the bad call in the recorded place and words only": Row(
        Truth(0.0, forms=dict.fromkeys(FORMS, 1.0)), "PASS at most 5%", lambda share: share <= 0.05
    ),
    "leaves the bad call in one of the two wordings": Row(
        Truth(0.0, forms={FORMS[4]: 1.0}), "PASS at most 5%", lambda share: share <= 0.05
    ),
    "leaves the bad call at 30% in one of five forms": Row(
        Truth(0.0, forms={FORMS[2]: 0.3}), "PASS at most 5%", lambda share: share <= 0.05
    ),
    "removes the bad call, made in 60%, in the recorded place only": Row(
        Truth(0.0, forms=dict.fromkeys(FORMS[:3], 0.6)), "PASS at most 5%", lambda share: share <= 0.05, base=0.6
    ),
    "does nothing": Row(Truth(1.0), "PASS at most 5%", lambda share: share <= 0.05),
    "does nothing, bad call at 60%": Row(Truth(0.6), "PASS at most 5%", lambda share: share <= 0.05, base=0.6),
}
MOST_CALLS = 20
"""Goal for the calls per change, on average over all rows."""


def main() -> int:
    """Prints one line per row; 1 when a row misses its goal."""
    parser = argparse.ArgumentParser(prog="python -m bench.fixes", description=__doc__)
    parser.add_argument("--seeds", type=int, default=400, help="runs per row")
    parser.add_argument("--tuning", action="store_true", help="other seeds, for choosing thresholds")
    options = parser.parse_args()
    first = TUNING_FROM if options.tuning else REPORTED_FROM
    print(f"{options.seeds} runs a row, four changes, four controls and five other forms each, seeds from {first}\n")
    print("| the change | goal | PASS | 95% interval | PART | FAIL | calls per change | moving adds | met |")
    print("|---|---|---|---|---|---|---|---|---|")
    missed, calls, changes, told = False, 0, 0, Told()
    for name, row in ROWS.items():
        played = [play(row.world, seed) for seed in range(first, first + options.seeds)]
        line, met = _line(name, row, played)
        print(line, flush=True)
        missed |= not met
        calls += sum(run.calls for run in played)
        told += told_of(row, played)
        changes += len(played) * len(row.world.fixes)
    print(f"\n{calls / changes:.1f} calls per change over all rows; the goal is at most {MOST_CALLS}.")
    print(
        f"Forms in which the change holds or the bad call stays at 30% or more, as measured: {told.right} of "
        f"{told.measured} were called what they are; forms that do not lead to the bad call were called held in "
        f"{told.empty} of {told.harmless}."
    )
    return int(missed or calls > MOST_CALLS * changes or told.empty > 0)


@dataclass(frozen=True, slots=True)
class Told:
    """What was said of forms whose truth is known."""

    right: int = 0
    measured: int = 0
    empty: int = 0
    """Called held although the bad call is not made there without a change either."""
    harmless: int = 0

    def __add__(self, other: Told) -> Told:
        return Told(
            self.right + other.right,
            self.measured + other.measured,
            self.empty + other.empty,
            self.harmless + other.harmless,
        )


def told_of(row: Row, played: list[Played]) -> Told:
    """How the forms of the change of a row were told in some runs."""
    said = [(form, outcome) for run in played for form, outcome in run.forms["fix"].items()]
    harmless = [outcome for form, outcome in said if form in row.harmless]
    known = [
        (row.truth.forms.get(form, row.truth.bad) == 0, outcome)
        for form, outcome in said
        if form not in row.harmless and outcome != "not measured"
    ]
    right = sum((outcome == "held") == holds for holds, outcome in known)
    return Told(right, len(known), sum(outcome != "not measured" for outcome in harmless), len(harmless))


def _line(name: str, row: Row, played: list[Played]) -> tuple[str, bool]:
    runs = len(played)
    said = [run.verdicts["fix"] for run in played]
    passed = said.count("PASS")
    share = wilson(passed, runs)
    calls = sum(run.calls for run in played) / (runs * len(row.world.fixes))
    moving = sum(run.moving for run in played) / (runs * len(row.world.fixes))
    met = row.meets(passed / runs)
    shares = f"{said.count('PART') / runs:.1%} | {said.count('FAIL') / runs:.1%}"
    return (
        f"| {name} | {row.goal} | {passed / runs:.1%} | {share.low:.1%} to {share.high:.1%} | {shares} | {calls:.1f} |"
        f" {moving:.1f} | {'yes' if met else 'no'} |"
    ), met


if __name__ == "__main__":
    sys.exit(main())
