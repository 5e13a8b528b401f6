"""`why` on a real local model: `python -m bench.live --url http://127.0.0.1:18090/v1 [--cases inbox ...]`.

Records each case against the server as an agent would, explains it twice from an empty reply cache, by samples alone
and with likelihood, and writes the table to `bench/results/live.md`. Seconds are those of one `why` on a machine that
may be busy with other work; the load is printed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import runtape

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "live"))

from local_cases import CASES, LocalCase  # noqa: E402 - the cases are test code, found beside this folder

RESULTS = ROOT / "bench" / "results" / "live.md"
HEADINGS = (
    "| case | search | headline is the planted sentence | with it | without it | calls | requests | read by likelihood "
    "| rounds | seconds |\n|---|---|---|---|---|---|---|---|---|---|"
)


def main() -> int:
    """Prints a row as soon as it is done; 1 when a headline is not the planted sentence."""
    parser = argparse.ArgumentParser(prog="python -m bench.live", description=__doc__)
    parser.add_argument("--url", default=os.environ.get("RUNTAPE_TEST_LOCAL_MODEL"), help="base URL of the server")
    parser.add_argument("--cases", nargs="*", default=[case.name for case in CASES])
    parser.add_argument("--model", default="Qwen2.5-Coder-0.5B-Instruct, Q4_K_M, llama.cpp, 1 thread", help="said only")
    options = parser.parse_args()
    if options.url is None:
        parser.error("name a server: --url, or RUNTAPE_TEST_LOCAL_MODEL")
    about = f"{options.model}; openai {version('openai')}; load {os.getloadavg()[0]:.1f} at the start"
    lines = [f"`python -m bench.live`: {about}. One run each: a row shows what it took, not a rate.", "", HEADINGS]
    print("\n".join(lines), flush=True)
    right = True
    with tempfile.TemporaryDirectory() as folder:
        cases = [case for case in CASES if case.name in options.cases]
        traces = [case.record(options.url, Path(folder)) for case in cases]
        for likelihood in (True, False):
            for case, trace in zip(cases, traces, strict=True):
                row, found = measured(case, trace, likelihood=likelihood)
                right &= found
                lines.append(row)
                print(row, flush=True)
                RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0 if right else 1


def measured(case: LocalCase, trace: Path, *, likelihood: bool) -> tuple[str, bool]:
    """One row, and whether the headline is right."""
    started = time.perf_counter()
    report = runtape.why(trace, "last", likelihood=likelihood, concurrency=1, cache_dir=None)
    seconds = time.perf_counter() - started
    found = report.headline == [case.planted]
    first = report.causes[0] if report.causes else None
    with_, without = (
        f"{kept} of {n}" for kept, n in ((first.with_, first.without) if first else (report.base, (0, 0)))
    )
    cells = [
        case.name,
        "likelihood" if likelihood else "samples",
        "yes" if found else f"no: {report.headline!r}",
        with_,
        without,
        report.calls,
        report.requests,
        report.passes,
        report.rounds,
        f"{seconds:.0f}",
    ]
    return "| " + " | ".join(map(str, cells)) + " |", found


if __name__ == "__main__":
    sys.exit(main())
