"""The rows of the tables, and what each has to show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from runtape.search.settings import Settings

from .families import Spec

QUICK, FULL = Settings(), Settings(depth="full")
QUICK_N = Settings(profile="contexts")

WORKED = Spec(inputs=3, rate=0.95, without=0.05, fragility=0.6)
"""A realistic context: rule, task and data are needed, one planted instruction, large removals break it."""
COPIES = replace(WORKED, family="or", inputs=2, causes=2)
ALL_OF = Spec(family="and", messages=40, rate=0.95, without=0.05, fragility=0.6)


@dataclass(frozen=True, slots=True)
class Goal:
    """Limits of one row; None: not asked."""

    exact: float | None = None
    """Least share of searches, in percent."""
    required: float | None = None
    calls: float | None = None
    """Most calls, median."""
    calls90: float | None = None
    contexts: float | None = None
    waves: float | None = None
    ms: float | None = None
    """Most milliseconds of CPU, mean."""
    answer: tuple[str, float] | None = None
    """(answer, share): least searches, in percent, that end with this answer."""
    false: float | None = None
    """Most searches with a false claim, in percent; the upper end of the 95% interval must stay below."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a family of worlds, the settings, the goal."""

    spec: Spec
    settings: Settings = QUICK
    goal: Goal = Goal()
    many: bool = False
    """Some piece or every piece is innocent: more worlds, since a false claim is rare."""


def _sizes(name: str, spec: Spec, settings: Settings, goals: Mapping[int, Goal]) -> dict[str, Row]:
    return {f"{name} {n}x10": Row(replace(spec, messages=n), settings, goal) for n, goal in goals.items()}


NOISY = Spec(rate=0.9, without=0.1)

ROWS: dict[str, Row] = {
    "one 10x10 1/0": Row(Spec(), QUICK, Goal(exact=99.5, calls=38, calls90=46, waves=6)),
    "one 10x10 .9/.1": Row(NOISY, QUICK, Goal(exact=98, calls=52, calls90=78)),
    "one 10x10 .9/.3": Row(replace(NOISY, without=0.3), QUICK, Goal(exact=92, calls=80)),
    "one 10x10 .7/.23": Row(Spec(rate=0.7, without=0.23), QUICK, Goal(exact=88, calls=135)),
    "one 40x1-60 .9/.1": Row(replace(NOISY, messages=40, varied=True), QUICK, Goal(exact=98)),
    "one 40x10 .9/.1, useless wording": Row(replace(NOISY, messages=40, wording=0.0), QUICK, Goal(exact=98)),
    "one 100x10 .9/.1": Row(replace(NOISY, messages=100), QUICK, Goal(exact=98)),
    "one 500x10 .9/.1": Row(replace(NOISY, messages=500), QUICK, Goal(exact=98, ms=1000)),
    "one 500x10 1/0": Row(Spec(messages=500), QUICK, Goal(exact=98, ms=1000)),
    "one 10x10 .9/.1, fast": Row(NOISY, Settings(fast=True), Goal(exact=98)),
    "one 10x10 .9/.1, precise": Row(NOISY, Settings(precise=True), Goal(exact=98)),
    "one 10x10 1/0, forced call": Row(replace(Spec(), forced=True), QUICK, Goal(exact=98)),
    **_sizes(
        "real quick",
        WORKED,
        QUICK,
        {
            10: Goal(exact=98, calls=50, waves=10),
            40: Goal(exact=98, calls=60, waves=10),
            100: Goal(exact=98, calls=66, waves=10),
        },
    ),
    **_sizes(
        "real full",
        WORKED,
        FULL,
        {
            10: Goal(exact=98, required=97, calls=82),
            40: Goal(exact=98, required=97, calls=95),
            100: Goal(exact=98, required=97, calls=105),
        },
    ),
    "and-3 full 40x10": Row(replace(ALL_OF, causes=3), FULL, Goal(exact=95, calls=80)),
    "and-5 full 40x10": Row(replace(ALL_OF, causes=5), FULL, Goal(exact=95, calls=115)),
    "and-3 full 40x10 .95/.3": Row(replace(ALL_OF, causes=3, without=0.3), FULL, Goal(exact=85)),
    "copies-2 full 10x10": Row(COPIES, FULL, Goal(exact=95, calls=140)),
    "copies-2 full 40x10": Row(replace(COPIES, messages=40), FULL, Goal(exact=95, calls=140)),
    "copies-3 full 40x10": Row(replace(COPIES, messages=40, causes=3), FULL, Goal(exact=92, calls=175)),
    "copies-4 full 40x10": Row(replace(COPIES, messages=40, causes=4), FULL, Goal(exact=85, calls=205)),
    "2-of-3 full 40x10": Row(replace(COPIES, messages=40, causes=3, need=2), FULL, Goal(exact=94)),
    "neighbours-2 full 40x10": Row(replace(COPIES, family="neighbours", messages=40), FULL, Goal(exact=94)),
    "near-copies-2 quick 10x10": Row(replace(COPIES, grouped=True), QUICK, Goal(exact=97, calls=70)),
    "near-copies-3 quick 40x10": Row(
        replace(COPIES, messages=40, causes=3, grouped=True), QUICK, Goal(exact=97, calls=70)
    ),
    "masked quick 10x10": Row(replace(WORKED, family="masked", inputs=2), QUICK, Goal(exact=94, calls=80)),
    "masked quick 40x10": Row(replace(WORKED, family="masked", inputs=2, messages=40), QUICK, Goal(exact=90, calls=80)),
    "base .5/.03 full 10x10": Row(Spec(rate=0.5, without=0.03), FULL, Goal(exact=98, calls=140)),
    "base .3/.02 full 10x10": Row(Spec(rate=0.3, without=0.02), FULL, Goal(exact=85, calls=250)),
    "base .2/0 full 10x10": Row(Spec(rate=0.2), FULL, Goal(exact=60)),
    "base .03/0 quick 10x10": Row(Spec(rate=0.03), QUICK),
    "the order of the tools .95/.2 40x10": Row(
        Spec(family="order", messages=40, rate=0.95, without=0.2), QUICK, Goal(exact=95)
    ),
    "suspect right 10x10 1/0": Row(Spec(suspect="right"), QUICK, Goal(exact=98, calls=20, waves=3)),
    "suspect right 10x10 .9/.1": Row(replace(NOISY, suspect="right"), QUICK, Goal(exact=98)),
    "suspect right real 40x10": Row(replace(WORKED, messages=40, suspect="right"), QUICK, Goal(exact=98)),
    "suspect wrong 10x10 1/0": Row(Spec(suspect="wrong"), QUICK, Goal(exact=98, calls=44)),
    "suspect wrong 10x10 .9/.1": Row(replace(NOISY, suspect="wrong"), QUICK, Goal(exact=98)),
    "suspect wrong real 40x10": Row(replace(WORKED, messages=40, suspect="wrong"), QUICK, Goal(exact=98)),
    "n honoured 10x10 1/0": Row(Spec(), QUICK_N, Goal(exact=98, contexts=19)),
    "n honoured 10x10 .9/.1": Row(NOISY, QUICK_N, Goal(exact=98, contexts=24)),
    "n honoured real 10x10": Row(WORKED, QUICK_N, Goal(exact=98, contexts=26)),
    "n honoured real 40x10": Row(replace(WORKED, messages=40), QUICK_N, Goal(exact=98, contexts=34)),
    "fragile from 10% real 10x10": Row(replace(WORKED, fragile_from=0.1), QUICK),
    **{
        f"null {rate:g} {messages}x10, {said}": Row(
            Spec(family="null", messages=messages, rate=rate), settings, Goal(false=5, calls=calls), many=True
        )
        for rate, messages, settings, calls, said in (
            (1.0, 40, QUICK, 32, "quick"),
            (0.9, 40, QUICK, 50, "quick"),
            (0.75, 40, QUICK, 95, "quick"),
            (0.6, 20, FULL, None, "full"),
            (0.5, 20, FULL, None, "full"),
            (0.35, 20, FULL, None, "full"),
            (0.9, 20, Settings(depth="full", fast=True), None, "full, fast"),
            (0.7, 20, Settings(profile="contexts", precise=True), None, "n honoured, precise"),
        )
    },
    **{
        f"null {rate:g} 20x10, temperature 0": Row(
            Spec(family="null", messages=20, rate=rate, agreeing=4), QUICK, Goal(false=5), many=True
        )
        for rate in (0.95, 0.8)
    },
    "partly null .9/.1 41x10": Row(replace(NOISY, messages=41), FULL, Goal(false=5), many=True),
    "partly null .7/.2 41x10": Row(Spec(rate=0.7, without=0.2, messages=41), FULL, Goal(false=5), many=True),
}
