"""Other ways to nominate, under the same confirmation: same base, same slots, same budget.

Each nominates units in an order of its own; they are put to the test one after another until a proven one makes the
agent act differently, or until ten were tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from runtape.search.batch import Batch, SearchEnds
from runtape.search.confirm import settle_open
from runtape.search.finding import Finding
from runtape.search.headline import has_headline, settle_headline
from runtape.search.ledger import Ledger, Variant
from runtape.search.opening import BASE_SAMPLES
from runtape.search.protocol import POOL, Search
from runtape.search.ranking import ranked_claims
from runtape.search.settings import Settings
from runtape.search.summary import summarise

from .families import Spec, build
from .play import Score, play, run
from .report import figure, summed_up
from .rows import NOISY, WORKED

Nominate = Callable[[Ledger], Search[Variant, Sequence[int]]]

MOST_NOMINATED = 10
ABLATIONS = 64
"""Random halves of the context that the sparse regression is fitted to."""
PENALTY = 0.02
STEPS = 300


def wording(ledger: Ledger) -> Search[Variant, Sequence[int]]:
    """By wording overlap alone, without any rerun."""
    yield from ()
    return sorted(range(len(ledger.units)), key=lambda unit: -ledger.units.scores[unit])


def leave_one_out(ledger: Ledger) -> Search[Variant, Sequence[int]]:
    """Every unit alone, once; those that flip twice more."""
    units = range(len(ledger.units))
    batch = Batch(ledger)
    batch.pools([(unit,) for unit in units], 1)
    yield from batch.ask()
    flipped = [unit for unit in units if ledger.tally(ledger.units.members[unit], POOL).flips]
    batch = Batch(ledger)
    batch.pools([(unit,) for unit in flipped], 2)
    if batch:
        yield from batch.ask()
    rates = {unit: ledger.tally(ledger.units.members[unit], POOL).rate for unit in flipped}
    return sorted(flipped, key=lambda unit: (rates[unit], -ledger.units.scores[unit]))


def sparse_regression(ledger: Ledger) -> Search[Variant, Sequence[int]]:
    """A lasso over random halves of the context, in the manner of ContextCite (arXiv 2409.00729)."""
    count = len(ledger.units)
    kept = ledger.rng.random((ABLATIONS, count)) < 0.5
    variants = [ledger.units.leaves(np.flatnonzero(~row).tolist()) for row in kept]
    batch = Batch(ledger)
    for variant in variants:
        batch.reach(variant, 1, POOL)
    yield from batch.ask()
    outcome = np.array([ledger.tally(variant, POOL).kept for variant in variants], dtype=float)
    centred = kept - 0.5
    target = outcome - outcome.mean()
    step = 1 / np.linalg.norm(centred, 2) ** 2
    weights = np.zeros(count)
    for _ in range(STEPS):
        moved = weights + step * centred.T @ (target - centred @ weights)
        weights = np.sign(moved) * np.maximum(np.abs(moved) - step * PENALTY * ABLATIONS, 0)
    return [unit for unit in np.argsort(-weights).tolist() if weights[unit] > 0]


def ddmin(ledger: Ledger) -> Search[Variant, Sequence[int]]:
    """A minimal set of units that still decides (Zeller and Hildebrandt's ddmin, two reruns a test)."""
    units = list(range(len(ledger.units)))
    parts = 2
    while len(units) >= 2:
        size = -(-len(units) // parts)
        chunks = [units[at : at + size] for at in range(0, len(units), size)]
        rests = [[unit for unit in units if unit not in chunk] for chunk in chunks]
        for smaller, then in [*((chunk, 2) for chunk in chunks), *((rest, max(parts - 1, 2)) for rest in rests)]:
            removed = frozenset(range(ledger.problem.leaves)) - ledger.units.leaves(smaller)
            batch = Batch(ledger)
            batch.reach(removed, 2, POOL)
            if batch:
                yield from batch.ask()
            if smaller and not ledger.tally(removed, POOL).flips:
                units, parts = smaller, then
                break
        else:
            if parts >= len(units):
                break
            parts = min(len(units), 2 * parts)
    return units


BASELINES: Mapping[str, Nominate] = MappingProxyType(
    {
        "wording overlap": wording,
        "leave one out": leave_one_out,
        "sparse regression": sparse_regression,
        "ddmin": ddmin,
    }
)
WORLDS: Mapping[str, Spec] = MappingProxyType(
    {
        "one 10x10 .9/.1": NOISY,
        "one 40x10 .9/.1": replace(NOISY, messages=40),
        "real 10x10": WORKED,
        "real 40x10": replace(WORKED, messages=40),
        "null .9 10x10": Spec(family="null", rate=0.9),
    }
)


def baseline(nominate: Nominate, spec: Spec, seed: int) -> Score:
    """One search by a baseline."""
    world = build(spec, seed)
    ledger = Ledger(world.problem, Settings())
    return run(world, _search(ledger, nominate), lambda: ranked_claims(ledger))


def _search(ledger: Ledger, nominate: Nominate) -> Search[Variant, Finding]:
    try:
        batch = Batch(ledger)
        batch.base(BASE_SAMPLES)
        yield from batch.ask()
        ordered = yield from nominate(ledger)
        for unit in ordered[:MOST_NOMINATED]:
            if ledger.open_slot([unit]):
                yield from settle_open(ledger)
            if has_headline(ledger):
                yield from settle_headline(ledger)
            if has_headline(ledger):
                break
        ledger.ended = "done"
    except SearchEnds as end:
        ledger.ended = end.ending
    return summarise(ledger, stopped=False)


def _play(job: tuple[str, str, int]) -> Score:
    method, world, seed = job
    if method not in BASELINES:
        return play(WORLDS[world], Settings(), seed)
    return baseline(BASELINES[method], WORLDS[world], seed)


def table(seeds: Sequence[int], workers: Executor) -> str:
    """The baselines beside the search: exact %, false %, median calls."""
    methods = ("pool and prove", *BASELINES)
    lines = [
        f"Other ways to nominate under the same confirmation, {len(seeds)} worlds: exact % / false %, median calls.",
        "",
        "| world | " + " | ".join(methods) + " |",
        "|---|" + "---|" * len(methods),
    ]
    for world in WORLDS:
        cells: list[str] = []
        for method in methods:
            scores = list(workers.map(_play, [(method, world, seed) for seed in seeds], chunksize=10))
            result = summed_up(scores, 0.0)
            exact = "-" if WORLDS[world].family == "null" else figure(result.exact)
            cells.append(f"{exact} / {figure(result.false)}, {result.calls:g}")
        lines.append(f"| {world} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _trusting_determinism() -> float:
    """Chance of a false cause if four equal replies were taken for determinism, at the worst rate.

    Four reruns agree; then up to ten innocent pieces are each called a cause when both of two reruns flip.
    """
    rates = np.linspace(0.01, 0.99, 99)
    return float((rates**4 * (1 - (1 - (1 - rates) ** 2) ** MOST_NOMINATED)).max())


DETERMINISTIC = (
    "\nTrusting temperature 0 after four equal replies, and two flips for a proof, would name a false cause in up to "
    f"{_trusting_determinism():.0%} of the searches; it is not done."
)
