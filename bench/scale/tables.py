"""The table and the chart of the measurements, from their lines alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from .chart import Panel, chart

Row = Mapping[str, Any]


def rows_of(path: Path) -> list[Row]:
    """The lines of a file of results."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def table(rows: Sequence[Row]) -> str:
    """Medians by size."""
    searches = [
        "| sentences | searches | exactly the sentence | calls | contexts | CPU, s | memory, MB |",
        "|---" * 7 + "|",
    ]
    for size, some in _by_size(rows, "pieces").items():
        exact = sum(row["exact"] for row in some)
        cells = [
            f"{size:,}",
            len(some),
            exact,
            *(_figure(some, name) for name in ("calls", "contexts", "cpu", "megabytes")),
        ]
        searches.append("| " + " | ".join(map(str, cells)) + " |")
    traces = ["| trace, MB | CPU until its last call can be rerun, s | memory, MB |", "|---|---|---|"]
    for size, some in _by_size(rows, "trace").items():
        traces.append(f"| {size:,} | {_figure(some, 'cpu')} | {_figure(some, 'megabytes')} |")
    return "\n".join([*searches, "", *traces])


def growth(rows: Sequence[Row]) -> str:
    """In a sentence how calls grow."""
    searches = _by_size(rows, "pieces")
    calls = sorted(_middle(some, "calls") for some in searches.values())
    number = min(map(len, searches.values()))
    return (
        f"With {min(searches)} to {max(searches):,} sentences in the context a search takes "
        f"{calls[0]:g} to {calls[-1]:g} model calls "
        f"(medians of {number}: [table](bench/results/scale.md), [chart](bench/results/scale.svg))."
    )


def drawing(rows: Sequence[Row]) -> str:
    """The same as curves."""
    pieces, traces = _by_size(rows, "pieces"), _by_size(rows, "trace")
    panels = [
        Panel("model calls", "sentences", _points(pieces, "calls")),
        Panel("CPU of the search, s", "sentences", _points(pieces, "cpu")),
        Panel("memory of the search, MB", "sentences", _points(pieces, "megabytes")),
        Panel("CPU until the last call can be rerun, s", "size of the trace, MB", _points(traces, "cpu")),
    ]
    return chart(panels, "What a search costs as contexts and traces grow")


def _by_size(rows: Sequence[Row], what: str) -> dict[int, list[Row]]:
    sizes = sorted({row["size"] for row in rows if row["what"] == what})
    return {size: [row for row in rows if row["what"] == what and row["size"] == size] for size in sizes}


def _points(groups: Mapping[int, Sequence[Row]], name: str) -> list[tuple[float, float]]:
    return [(size, _middle(some, name)) for size, some in groups.items()]


def _middle(rows: Sequence[Row], name: str) -> float:
    """The median; of memory the first, which the others reuse."""
    return rows[0][name] if name == "megabytes" else median(row[name] for row in rows)


def _figure(rows: Sequence[Row], name: str) -> str:
    return f"{_middle(rows, name):g}"
