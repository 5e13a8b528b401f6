"""`python -m bench.simulated`: prints the tables.

Two sets of worlds on which nothing was chosen, one after the other; thresholds of the search were chosen on the seeds
from 0 up (`--tuning`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor

from . import baselines
from .chains import CHAIN_HEADINGS, CHAINS, chain_line
from .report import HEADINGS, Result, line, measure
from .rows import ROWS
from .turning import turning_table

FIRST, SECOND, TUNING = 2_000_000, 3_000_000, 0
GROWTH = ("one 10x10 .9/.1", "one 500x10 .9/.1")
MOST_GROWTH = 1.35
LEAST_COVERED = 0.94


def main() -> int:
    """Prints one line per row as it is done; 1 when a row misses its goal."""
    parser = argparse.ArgumentParser(prog="python -m bench.simulated", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="worlds per row")
    parser.add_argument("--many", type=int, default=1000, help="worlds per row in which pieces are innocent")
    parser.add_argument("--seeds-from", type=int, help="another set of worlds; by default two sets are played")
    parser.add_argument("--rows", nargs="*", default=[], help="only rows whose name holds one of these")
    parser.add_argument("--tuning", action="store_true", help="the seeds on which thresholds were chosen")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    options = parser.parse_args()
    given = TUNING if options.tuning else options.seeds_from
    missed = False
    with ProcessPoolExecutor(options.workers) as workers:
        for first in (FIRST, SECOND) if given is None else (given,):
            print(f"Seeds from {first}.\n\n{HEADINGS}", flush=True)
            results: dict[str, Result] = {}
            for name, result, fails in _table(options, first, workers):
                results[name] = result
                missed |= fails
            if set(GROWTH) <= results.keys():
                grown = results[GROWTH[1]].calls / results[GROWTH[0]].calls
                missed |= grown > MOST_GROWTH
                print(f"\nMedian calls at 5,000 sentences: {grown:.2f} times those at 100 (goal {MOST_GROWTH}).")
            drops = sum(result.drops for result in results.values())
            if drops:
                covered = sum(result.covered for result in results.values()) / drops
                missed |= covered < LEAST_COVERED
                print(f"\nThe interval holds the true drop in {covered:.1%} of {drops} right claims (goal 94%).")
            print(flush=True)
            missed |= _chains(options, first)
        if not options.rows:
            first = FIRST if given is None else given
            print(baselines.table(range(first, first + options.seeds // 2), workers))
            print(baselines.DETERMINISTIC)
            print(f"\nA model that turns in the middle of a search.\n\n{turning_table(first, workers)}")
    return int(missed)


def _table(options: argparse.Namespace, first: int, workers: Executor) -> Iterator[tuple[str, Result, bool]]:
    for name, row in ROWS.items():
        if options.rows and not any(part in name for part in options.rows):
            continue
        result = measure(row, range(first, first + (options.many if row.many else options.seeds)), workers)
        print(line(name, row, result), flush=True)
        yield name, result, bool(result.misses(row.goal))


def _chains(options: argparse.Namespace, first: int) -> bool:
    """Prints the chains of decisions; whether one misses its goal."""
    chosen = {
        name: row for name, row in CHAINS.items() if not options.rows or any(part in name for part in options.rows)
    }
    missed = False
    if chosen:
        print(f"{CHAIN_HEADINGS}", flush=True)
    for name, chain in chosen.items():
        told, misses = chain_line(name, chain, range(first, first + options.seeds))
        print(told, flush=True)
        missed |= misses
    if chosen:
        print(flush=True)
    return missed


if __name__ == "__main__":
    sys.exit(main())
