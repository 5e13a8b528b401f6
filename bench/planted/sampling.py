"""Whether chances that are read from a server are those by which it answers: some contexts sampled the ordinary way."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from pathlib import Path

from bench.compare import Results

from .kept import Kept
from .live import Server
from .measuring import RUNS, tool_of
from .rescoring import of_line


@dataclass(frozen=True, slots=True)
class Sampled:
    """One context, read and sampled."""

    case: str
    planted: bool
    """Whether it holds what was planted."""
    chance: float
    """That the bad tool is called, as read."""
    kept: int
    """Replies that call it, of `n` that were sampled."""
    n: int


def sampled(results: Results, replies: Kept, server: Server, cases: int) -> Iterator[Sampled]:
    """The first cases that count, each with and without what was planted."""
    counting = [line for line in results.lines if line.facts["counted"] and line.suite != "none"]
    for line in counting[:cases]:
        case = of_line(line)
        for planted, body in ((True, case.body()), (False, case.bare)):
            chance = replies.chances(body)
            if chance is not None:
                choices, _ = server.sample(body, RUNS)
                hits = [tool_of(choice) for choice in choices].count(case.domain.bad)
                yield Sampled(line.case, planted, chance[case.domain.bad], hits, len(choices))


def write(path: Path, rows: Sequence[Sampled]) -> None:
    """One JSON line each."""
    path.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows), encoding="utf-8")


def read(path: Path) -> list[Sampled]:
    """What `write` wrote; empty when there is no such file."""
    if not path.exists():
        return []
    return [Sampled(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def told(rows: Sequence[Sampled]) -> str:
    """One sentence on how well they agree."""
    n, kept = sum(row.n for row in rows), sum(row.kept for row in rows)
    wanted = sum(row.n * row.chance for row in rows)
    spread = sqrt(sum(row.n * row.chance * (1 - row.chance) for row in rows))
    apart = sum(abs(row.kept / row.n - row.chance) for row in rows) / len(rows)
    return (
        f"{len(rows)} of the contexts were also sampled the ordinary way, {rows[0].n} replies each: {kept} of {n} "
        f"replies made the call, where the chances that were read say {wanted:.0f} (give or take {2 * spread:.0f}, two "
        f"standard deviations); the mean difference of a context's rate is {apart:.2f}."
    )
