"""`python -m bench.simulated --seeds 200`: prints the tables."""

from __future__ import annotations

import argparse
import sys

from .chains import CHAIN_HEADINGS, CHAINS, chain_line
from .report import HEADINGS, line, measure
from .rows import ROWS

REPORTED_FROM, TUNING_FROM = 2_000_000, 0
"""Thresholds of the search were chosen on the tuning seeds; the tables are made with the others."""


def main() -> int:
    """Prints one line per row as it is done; 1 when a row misses its goal."""
    parser = argparse.ArgumentParser(prog="python -m bench.simulated", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="worlds per row")
    parser.add_argument("--rows", nargs="*", default=[], help="only rows whose name holds one of these")
    parser.add_argument("--tuning", action="store_true", help="the seeds on which thresholds were chosen")
    options = parser.parse_args()
    first = TUNING_FROM if options.tuning else REPORTED_FROM
    print(f"{options.seeds} worlds a row, seeds from {first}\n\n{HEADINGS}", flush=True)
    missed = False
    for name, row in ROWS.items():
        if options.rows and not any(part in name for part in options.rows):
            continue
        result = measure(row, range(first, first + options.seeds))
        print(line(name, row, result), flush=True)
        missed |= bool(result.misses(row.goal))
    chains = {
        name: row for name, row in CHAINS.items() if not options.rows or any(part in name for part in options.rows)
    }
    if chains:
        print(f"\n{CHAIN_HEADINGS}", flush=True)
    for name, chain in chains.items():
        told, misses = chain_line(name, chain, range(first, first + options.seeds))
        print(told, flush=True)
        missed |= misses
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
