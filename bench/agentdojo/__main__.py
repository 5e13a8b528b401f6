"""AgentDojo v1.2.2, explained: offline with simulated models, or online with a model of yours.

    python -m bench.agentdojo offline > bench/results/agentdojo.md
    python -m bench.agentdojo offline --public /path/to/python --pairs 120
    python -m bench.agentdojo online --base-url http://127.0.0.1:8000/v1 --model NAME

It needs `pip install -e ".[dev,agentdojo]"`; AgentDojo's dependencies agree with this project's. Offline takes about ten
minutes of two processors for all 949 pairs twice, without a network, and goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

from ..compare import Writer, read
from .tables import public_tables, tables

RESULTS = Path(__file__).parent.parent / "results"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.agentdojo", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    modes = parser.add_subparsers(dest="mode", required=True)
    offline = modes.add_parser("offline", help="all pairs with simulated models")
    offline.add_argument("--pairs", type=int, help="so many pairs, drawn from all; by default all 949")
    offline.add_argument("--public", metavar="PYTHON", help="interpreter with runtape 0.5.0, compared with why alone")
    offline.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    offline.add_argument("--tuning", type=int, metavar="SEED", help="another seed, for choosing; keeps no results")
    offline.add_argument("--out", type=Path, help="file of results (default under bench/results)")
    online = modes.add_parser("online", help="AgentDojo's own pipeline with a real model")
    from .online_options import add_options

    add_options(online)
    options = parser.parse_args()
    if options.mode == "online":
        from .online import run

        return run(options)
    return _offline(options)


def _offline(options: argparse.Namespace) -> int:
    from .cases import pairs
    from .offline import KINDS, REPORTED, TUNING, name_of, play

    seed = REPORTED if options.tuning is None else TUNING + options.tuning
    chosen = pairs()
    if options.pairs:
        random.Random(f"pairs {seed}").shuffle(chosen)
        chosen = chosen[: options.pairs]
    name = "agentdojo-public" if options.public else "agentdojo"
    out = options.out or RESULTS / f"{name}.jsonl"
    if options.tuning is not None:
        out = options.out or Path(f"{name}-tuning-{seed}.jsonl")
    cases = [name_of(pair, kind) for pair in chosen for kind in KINDS]
    about = (
        f"AgentDojo v1.2.2, {len(chosen)} of 949 pairs, seed {seed}, simulated models, one attack and one control each."
    )
    writer = Writer(out, {"about": about, "cases": cases})
    waiting = [pair for pair in chosen if any(name_of(pair, kind) not in writer.done for kind in KINDS)]
    calls = len(waiting) * len(KINDS) * (200 if options.public else 1100)
    print(f"{len(waiting)} pairs to do, about {calls:,} replies of simulated models, no cost", file=sys.stderr)
    started = time.monotonic()
    for at, line in enumerate(play(waiting, seed, KINDS, options.workers, options.public), 1):
        if line.case not in writer.done:
            writer.add(line)
        if at % 50 == 0:
            left = (time.monotonic() - started) / at * (len(waiting) * len(KINDS) - at)
            print(f"{at} of {len(waiting) * len(KINDS)} cases, about {left:.0f} s left", file=sys.stderr, flush=True)
    print((public_tables if options.public else tables)(read(out)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
