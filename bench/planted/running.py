"""A run on a real model: which cases, in which order, with how much said on the way."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.compare import Line, Method, Model, Writer

from .conversations import Size
from .domains import DOMAINS
from .kept import MOST
from .measuring import measure
from .suites import Planted, Suite, planted

SIZE = Size()
EVERY: Mapping[Suite, int] = {"one": 1, "copies": 2, "none": 8}
"""Of so many rounds, one has the suite."""
FIRST_SEED = 6000
"""No wording was chosen on these seeds or later ones."""


def rounds(count: int, suites: Mapping[Suite, int] = EVERY) -> Iterator[Planted]:
    """All cases of a run: in every round each domain once for each suite that is due."""
    for at in range(count):
        for suite, every in suites.items():
            if at % every == every - 1:
                for domain in DOMAINS:
                    yield planted(suite, domain, FIRST_SEED + at, SIZE)


def run(
    path: Path,
    cases: list[Planted],
    model: Model,
    methods: Mapping[str, Method],
    *,
    about: Mapping[str, Any],
    most: int = MOST,
) -> None:
    """Measure every case that has no line yet. `most`: replies that one request may ask for."""
    writer = Writer(path, {"cases": [case.name for case in cases], "methods": list(methods), **about})
    left = [case for case in cases if case.name not in writer.done]
    started, counted = time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="runtape-planted-") as folder:
        for at, case in enumerate(left, 1):
            line = measure(case, model, methods, Path(folder), most)
            writer.add(line)
            counted += line.facts["counted"]
            spent = time.monotonic() - started
            say(f"{at} of {len(left)}, {counted} counted, {spent / 60:.1f} min: {_told(line)}")


def _told(line: Line) -> str:
    if not line.facts["counted"]:
        return f"{line.case} does not count ({line.facts.get('with', '-')}/{line.facts.get('without', '-')})"
    exact = ", ".join(name for name, score in line.scores.items() if score.exact)
    return f"{line.case} exact by {exact or 'none'}"


def say(text: str) -> None:
    """Progress."""
    print(text, file=sys.stderr, flush=True)
