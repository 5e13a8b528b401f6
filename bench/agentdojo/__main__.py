"""AgentDojo v1.2.2, explained: offline with simulated models, or online with a model of yours.

    python -m bench.agentdojo offline > bench/results/agentdojo.md
    python -m bench.agentdojo offline --public /path/to/python --pairs 120
    python -m bench.agentdojo online --base-url http://127.0.0.1:8000/v1 --model NAME

It needs `pip install -e ".[dev,agentdojo]"`; AgentDojo's dependencies agree with this project's. Offline takes about
ten minutes of two processors for all 949 pairs, needs no network, and goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from dataclasses import asdict
from pathlib import Path

from ..compare import Writer, read
from .online_table import table
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
    where = online.add_mutually_exclusive_group(required=True)
    where.add_argument("--base-url", help="an OpenAI-compatible server; the key comes from OPENAI_API_KEY")
    where.add_argument("--double", action="store_true", help="a scripted model on 127.0.0.1, to try this mode")
    online.add_argument("--model", default="scripted", help="name of the model")
    online.add_argument("--pairs", type=int, default=20, help="so many pairs, drawn from all (default 20)")
    online.add_argument("--budget", type=int, default=400, help="most model calls for each why and fix")
    online.add_argument("--traces", type=Path, help="folder for the recorded runs; by default they are removed")
    online.add_argument("--out", type=Path, help="file of results, one JSON line a pair")
    options = parser.parse_args()
    return _online(options) if options.mode == "online" else _offline(options)


def _online(options: argparse.Namespace) -> int:
    from .cases import pairs
    from .online import run

    chosen = pairs()
    random.Random("online").shuffle(chosen)
    chosen = chosen[: options.pairs]
    runs, calls = 4 * len(chosen), 150 * len(chosen)
    print(f"{len(chosen)} pairs: up to {runs} full runs and about {calls:,} reruns", file=sys.stderr)
    rows = []
    for found in run(options, chosen):
        rows.append(asdict(found))
        if options.out:
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    about = f"AgentDojo v1.2.2, {len(chosen)} pairs, model {options.model}."
    print(table(about, rows))
    return 0


def _offline(options: argparse.Namespace) -> int:
    from .cases import pairs
    from .offline import REPORTED, TUNING, jobs_of, play

    seed = REPORTED if options.tuning is None else TUNING + options.tuning
    chosen = pairs()
    if options.pairs:
        random.Random(f"pairs {seed}").shuffle(chosen)
        chosen = chosen[: options.pairs]
    name = "agentdojo-public" if options.public else "agentdojo"
    out = options.out or RESULTS / f"{name}.jsonl"
    if options.tuning is not None:
        out = options.out or Path(f"{name}-tuning-{seed}.jsonl")
    jobs = jobs_of(chosen)
    about = f"AgentDojo v1.2.2, {len(chosen)} of 949 pairs, seed {seed}, simulated models."
    writer = Writer(out, {"about": about, "cases": [job.name for job in jobs]})
    waiting = [job for job in jobs if job.name not in writer.done]
    calls = len(waiting) * (200 if options.public else 900)
    print(f"{len(waiting)} cases to do, about {calls:,} replies of simulated models, no cost", file=sys.stderr)
    started = time.monotonic()
    for at, line in enumerate(play(waiting, seed, options.workers, options.public), 1):
        writer.add(line)
        if at % 50 == 0:
            left = (time.monotonic() - started) / at * (len(waiting) - at)
            print(f"{at} of {len(waiting)} cases, about {left:.0f} s left", file=sys.stderr, flush=True)
    print((public_tables if options.public else tables)(read(out)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
