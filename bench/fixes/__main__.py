"""`python -m bench.fixes --seeds 400`: prints the table of bench/results/fixes.md."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass

from runtape.stats.rates import wilson

from .world import Played, Truth, World, play

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

    @property
    def world(self) -> World:
        """The change among others that do nothing."""
        idle = {name: Truth(bad=self.base) for name in NOTHING}
        return World(self.base, self.benign, {"fix": self.truth, **idle})


ROWS = {
    "removes the bad call, breaks 30% of benign calls": Row(
        Truth(0.0, kept=0.7), "never PASS", lambda share: share == 0
    ),
    "leaves the bad call at 10%": Row(Truth(0.1), "PASS at most 5%", lambda share: share <= 0.05),
    "perfect": Row(Truth(0.0), "PASS at least 95%", lambda share: share >= 0.95),
    "perfect, bad call at 90%, benign at 95%": Row(
        Truth(0.0), "PASS at least 95%", lambda share: share >= 0.95, base=0.9, benign=0.95
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
    print(f"{options.seeds} runs a row, four changes and four controls each, seeds from {first}\n")
    print("| the change | goal | PASS | 95% interval | PART | FAIL | calls per change | met |")
    print("|---|---|---|---|---|---|---|---|")
    missed, calls, changes = False, 0, 0
    for name, row in ROWS.items():
        played = [play(row.world, seed) for seed in range(first, first + options.seeds)]
        line, met = _line(name, row, played)
        print(line, flush=True)
        missed |= not met
        calls += sum(run.calls for run in played)
        changes += len(played) * len(row.world.fixes)
    print(f"\n{calls / changes:.1f} calls per change over all rows; the goal is at most {MOST_CALLS}.")
    return int(missed or calls > MOST_CALLS * changes)


def _line(name: str, row: Row, played: list[Played]) -> tuple[str, bool]:
    runs = len(played)
    said = [run.verdicts["fix"] for run in played]
    passed = said.count("PASS")
    share = wilson(passed, runs)
    calls = sum(run.calls for run in played) / (runs * len(row.world.fixes))
    met = row.meets(passed / runs)
    shares = f"{said.count('PART') / runs:.1%} | {said.count('FAIL') / runs:.1%}"
    return (
        f"| {name} | {row.goal} | {passed / runs:.1%} | {share.low:.1%} to {share.high:.1%} | {shares} | {calls:.1f} |"
        f" {'yes' if met else 'no'} |"
    ), met


if __name__ == "__main__":
    sys.exit(main())
