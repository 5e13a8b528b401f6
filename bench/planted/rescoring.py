"""Scores again from saved replies: no model is asked."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bench.compare import Line, Method, Model, Results

from .measuring import case_of, counting, judged, measure
from .running import SIZE
from .suites import Planted, planted


def of_line(line: Line) -> Planted:
    """The case of a line, made again from its seed."""
    return planted(line.suite, line.facts["domain"], line.facts["seed"], SIZE)  # type: ignore[arg-type]


def rescore(results: Results, model: Model) -> Results:
    """Every line with its counts, its measurements and its scores made anew from the replies; its answers stay.

    Raises:
        NotKept: a reply is not among those that were kept.
    """
    lines: list[Line] = []
    with tempfile.TemporaryDirectory(prefix="runtape-planted-") as folder:
        for line in results.lines:
            case = of_line(line)
            found = {"domain": case.domain.name, "planted": list(case.sentences), **counting(case, model)}
            fresh = replace(line, facts={"seed": case.seed, **found}, scores={})
            if found["counted"]:
                fresh = judged(fresh, case_of(case, Path(folder), found["decision"]), model)
            lines.append(fresh)
    return Results(results.header, lines)


def again(results: Results, model: Model, methods: Mapping[str, Method]) -> Results:
    """Every method asked again from the replies, as after a change of one; raises NotKept as `rescore` does."""
    with tempfile.TemporaryDirectory(prefix="runtape-planted-") as folder:
        lines = [measure(of_line(line), model, methods, Path(folder)) for line in results.lines]
    return Results({**results.header, "methods": list(methods)}, lines)


def differences(one: Results, other: Results) -> list[str]:
    """The cases whose facts, scores or answers are not the same; seconds are not looked at."""
    return [a.case for a, b in zip(one.lines, other.lines, strict=True) if _plain(a) != _plain(b)]


def _plain(line: Line) -> Line:
    return replace(line, answers={name: replace(answer, seconds=0.0) for name, answer in line.answers.items()})
