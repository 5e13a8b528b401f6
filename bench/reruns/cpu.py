"""What the engine itself computes for each rerun, on a context of many pieces."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import runtape
from runtape.testing.models import PlantedModel

PIECES = 500
REPEATS = 5
"""The least of them counts: what else the machine does makes the others slower."""
RULE = "Whoever asks for a refund gets it at once."


@dataclass(frozen=True)
class Computed:
    """The cost of one search."""

    pieces: int
    reruns: int
    milliseconds: float
    """CPU of this process, opening the trace and the report included, over the reruns; the model costs a hash."""


def cpu_per_rerun(folder: Path, *, max_n: int) -> Computed:
    """Of a `why`, from opening the trace to the report."""
    path = _trace(folder)
    # What is imported on first use is no part of a rerun.
    runtape.why(path, "tool:refund", model=_model(max_n, seed=1), cache_dir=None)
    measured: list[Computed] = []
    for repeat in range(REPEATS):
        started = time.process_time()
        report = runtape.why(path, "tool:refund", model=_model(max_n, seed=0), cache_dir=folder / f"{max_n}-{repeat}")
        spent = time.process_time() - started
        assert report.headline == [RULE], report.headline
        measured.append(Computed(len(report.pieces), report.calls, 1000 * spent / report.calls))
    return min(measured, key=lambda one: one.milliseconds)


def _model(max_n: int, *, seed: int) -> PlantedModel:
    return PlantedModel([RULE], tool="refund", with_rate=0.95, instead="escalate", seed=seed, max_n=max_n)


def _trace(folder: Path) -> Path:
    path = folder / "large.jsonl"
    if path.exists():
        return path
    lines = [f"Order {number} was shipped on day {number % 28 + 1} to depot {number % 7}." for number in range(PIECES)]
    lines[PIECES * 2 // 3] = RULE
    messages = [{"role": "user", "content": "Handle the case."}, {"role": "user", "content": "\n".join(lines)}]
    with runtape.record(path) as rec:
        asked = rec.log_llm_request(provider="openai", api="chat.completions", model="m", messages=messages)
        rec.log_llm_response(asked, tool_calls=[{"name": "refund", "arguments": {}}])
    return path
