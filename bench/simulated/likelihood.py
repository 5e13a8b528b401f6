"""Searches that read the chance of the decision first: `python -m bench.simulated.likelihood --seeds 200`.

The same worlds as in the tables of `bench.simulated`, once by samples alone and once with readings before. A reading is
the true chance of a variant plus the noise of a server that caches (uniform, up to 0.04 either way). The last rows read
numbers that have nothing to do with the world: they show what a lie costs, and that it proves nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from runtape.search.attribute import Attribution
from runtape.search.finding import Finding
from runtape.search.likelihood import Guess, guess
from runtape.search.settings import Settings
from runtape.stats.rates import wilson

from .families import Spec, build
from .play import Score, score
from .rows import COPIES, FULL, QUICK_N, WORKED
from .world import Variant, World

REPORTED_FROM = 2_000_000
NOISE = 0.04
HEADINGS = (
    "| world | search | exact % | false % | calls median / p90 | contexts median / p90 | read by likelihood |\n"
    "|---|---|---|---|---|---|---|"
)
WORLDS: dict[str, tuple[Spec, Settings]] = {
    "one 10x10 1/0": (Spec(), QUICK_N),
    "one 10x10 .9/.1": (Spec(rate=0.9, without=0.1), QUICK_N),
    "one 10x10 .7/.23": (Spec(rate=0.7, without=0.23), QUICK_N),
    "one 40x10 .9/.1, useless wording": (Spec(messages=40, rate=0.9, without=0.1, wording=0.0), QUICK_N),
    "real quick 10x10": (WORKED, QUICK_N),
    "real quick 40x10": (replace(WORKED, messages=40), QUICK_N),
    "copies-2 full 10x10": (COPIES, replace(FULL, profile="contexts")),
    "base .3/.02 10x10": (Spec(rate=0.3, without=0.02), QUICK_N),
    "null 1.0": (Spec("null", rate=1.0), QUICK_N),
    "null .75": (Spec("null", rate=0.75), QUICK_N),
}
Chance = Callable[[World, Variant], float]


def honest(world: World, removed: Variant) -> float:
    """The chance of the decision, as a caching server gives it."""
    rule = world.rule
    rate = rule.rate if rule.met(removed) else rule.without
    luck = np.random.default_rng([world.problem.seed, 17, *sorted(removed)]).uniform(-NOISE, NOISE)
    return float(np.clip(rate * (1 - world.broken(removed)) + luck, 0, 1))


def lying(world: World, removed: Variant) -> float:
    """A number without any relation to the world, but for the context as recorded."""
    if not removed:
        return honest(world, removed)
    return float(np.random.default_rng([world.problem.seed, 19, *sorted(removed)]).uniform(0, 1))


def read(world: World, chance: Chance) -> Guess:
    """What the readings point to."""
    search = guess(world.problem)
    try:
        wants = next(search)
        while True:
            wants = search.send([chance(world, variant) for variant in wants])
    except StopIteration as done:
        result: Guess = done.value
        return result


def play(spec: Spec, settings: Settings, seed: int, chance: Chance | None) -> tuple[Score, int]:
    """One search, and the contexts that were read before it."""
    world = build(spec, seed)
    found = read(world, chance) if chance else Guess()
    problem = replace(world.problem, suspects=found.suspects, together=found.together)
    search = Attribution(problem, replace(settings, budget=settings.budget - found.passes)).run()
    try:
        wants = next(search)
        while True:
            wants = search.send(world.answer(wants))
    except StopIteration as done:
        finding: Finding = done.value
    return score(world, finding), found.passes


def line(name: str, kind: str, played: list[tuple[Score, int]]) -> str:
    """One row of the table; readings count as calls and as contexts."""
    false = sum(result.false for result, _ in played)
    calls = np.array([result.calls + passes for result, passes in played])
    contexts = np.array([result.contexts + passes for result, passes in played])
    cells = [
        name,
        kind,
        "-" if name.startswith("null") else f"{100 * np.mean([result.exact for result, _ in played]):g}",
        f"{100 * false / len(played):g} (at most {100 * wilson(false, len(played)).high:.1f})",
        f"{np.median(calls):g} / {np.percentile(calls, 90):g}",
        f"{np.median(contexts):g} / {np.percentile(contexts, 90):g}",
        f"{np.median([passes for _, passes in played]):g}",
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.simulated.likelihood", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="worlds per row")
    options = parser.parse_args()
    seeds = range(REPORTED_FROM, REPORTED_FROM + options.seeds)
    print(f"{options.seeds} worlds a row, seeds from {REPORTED_FROM}\n\n{HEADINGS}", flush=True)
    kinds: dict[str, Chance | None] = {"samples": None, "likelihood": honest, "numbers that lie": lying}
    for name, (spec, settings) in WORLDS.items():
        for kind, chance in kinds.items():
            print(line(name, kind, [play(spec, settings, seed, chance) for seed in seeds]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
