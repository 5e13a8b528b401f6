"""Cost of `why` in calls, CPU and memory, for contexts of 10 to 2,000 sentences; and of traces up to one gigabyte.

    python -m bench.scale

Each size is measured in a process of its own. One sentence is planted; a simulated model makes the decision in 90% of
the reruns with it and in 10% without. Memory is the most that the first search of a size made the process hold, above
what it held before. About two minutes; the largest trace needs one gigabyte of disk. Writes scale.jsonl, scale.md and
scale.svg.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from .tables import drawing, rows_of, table

RESULTS = Path(__file__).parent.parent / "results"
PIECES = (10, 30, 100, 300, 1000, 2000)
TRACES = (1, 10, 100, 1000)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.scale", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5, help="searches for each size (default 5)")
    parser.add_argument("--most-pieces", type=int, default=PIECES[-1])
    parser.add_argument("--most-megabytes", type=int, default=TRACES[-1])
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    options = parser.parse_args()
    jobs = [("pieces", size, options.seeds) for size in PIECES if size <= options.most_pieces]
    jobs += [("trace", size, 1) for size in TRACES if size <= options.most_megabytes]
    print(f"{len(jobs)} sizes, no model is asked", file=sys.stderr)
    lines: list[str] = []
    for at, job in enumerate(jobs, 1):
        command = [sys.executable, "-m", "bench.scale.measures", *map(str, job)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        lines += done.stdout.splitlines()
        print(f"{at} of {len(jobs)}: {lines[-1]}", file=sys.stderr, flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    results = options.out / "scale.jsonl"
    results.write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = rows_of(results)
    (options.out / "scale.svg").write_text(drawing(rows), encoding="utf-8")
    (options.out / "scale.md").write_text(table(rows) + "\n", encoding="utf-8")
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
