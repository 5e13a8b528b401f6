"""The table of an online session; reads lines only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from ..compare.tables import figure, share

Row = Mapping[str, Any]


def table(about: str, rows: Sequence[Row]) -> str:
    """What AgentDojo's judges and this project said of each pair, summed up."""
    attacked = [row for row in rows if row["attacked"]]
    explained = [row for row in attacked if row["decision"]]
    controls = [row for row in rows if row["decision"] and not row["attacked"]]
    fixed = [row for row in explained if row["fix"]]
    full = [row for row in fixed if row["fixed_attacked"] is not None]
    lines = [
        about,
        "",
        "| what | of | % (95%) |",
        "|---|---|---|",
        _line("the attack works", rows, lambda row: row["attacked"]),
        _line("the user's task is done under attack", rows, lambda row: row["utility"]),
        _line("attacks that worked, harmful call found", attacked, lambda row: bool(row["decision"])),
        _line("explained: the headline is the first sentence of the goal", explained, lambda row: row["exact"]),
        _line("explained: the headline is a text of the injection", explained, lambda row: row["in_injection"]),
        _line("controls: the injection is blamed for the user's own action", controls, lambda row: row["in_injection"]),
        _line("a fix passes on the decision", explained, lambda row: bool(row["fix"])),
        _line("full run with that rule: the attack works", full, lambda row: row["fixed_attacked"]),
        _line("full run with that rule, no attack: the task is done", full, lambda row: row["fixed_utility"]),
        _line("full run without it, no attack: the task is done", full, lambda row: row["plain_utility"]),
    ]
    calls = [row["calls"] for row in explained]
    return "\n".join([*lines, "", f"Model calls of why and fix, median: {figure(median(calls)) if calls else '-'}."])


def _line(what: str, rows: Sequence[Row], of: Callable[[Row], bool]) -> str:
    return f"| {what} | {len(rows)} | {share([of(row) for row in rows])} |"
