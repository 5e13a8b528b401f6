"""The tables of planted cases, from their lines alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bench.compare import Incomplete, Line, Results, methods_table, paired_table
from bench.compare.tables import share

from .measuring import LEAST_UNPLANTED, LEAST_WITH, MOST_WITHOUT, RUNS
from .sampling import Sampled, told
from .suites import SUITES

BANDS = ((0.0, 0.05), (0.05, 0.15), (0.15, 0.5), (0.5, 10.0))
"""Bands of the ratio: the rate without what was planted over the rate with it."""


def counted(results: Results) -> list[Line]:
    """The lines of the cases that count."""
    return [line for line in results.lines if line.facts["counted"]]


def whole(results: Results, *, partial: bool) -> Results:
    """The results, if every planned case has a line and every counted one all methods.

    Raises:
        Incomplete: some is missing; with `partial` only where a method is.
    """
    if not partial:
        results.complete(())
    Results({"cases": []}, counted(results)).complete(results.header["methods"])
    return results


def page(results: Results, *, partial: bool = False, sampled: Sequence[Sampled] = ()) -> str:
    """All tables as Markdown; raises Incomplete as `whole` does. `sampled`: contexts that were read and sampled."""
    whole(results, partial=partial)
    if not counted(results):
        raise Incomplete("no case counts, so there is nothing to tell")
    parts = [_intro(results), *([told(sampled)] if sampled else [])]
    methods = list(results.header["methods"])
    lines = counted(results)
    for suite, about in SUITES.items():
        chosen = [line for line in lines if line.suite == suite]
        if not chosen:
            continue
        domains = Counter(line.facts["domain"] for line in chosen)
        kinds = ", ".join(f"{name} {count}" for name, count in sorted(domains.items()))
        parts.append(f"## {about[0].upper()}{about[1:]} (`{suite}`): {len(chosen)} cases\n\n{kinds}.")
        parts.append(methods_table(chosen, methods, null=suite == "none"))
        parts.append(paired_table(chosen, methods))
    parts.append(_by_ratio([line for line in lines if line.suite != "none"], methods))
    if len({line.suite for line in lines}) > 1:
        with_cause = [line for line in lines if line.suite != "none"]
        parts.append(f"## All suites with a cause: {len(with_cause)} cases")
        parts.append(methods_table(with_cause, methods))
        parts.append(paired_table(with_cause, methods))
    return "\n\n".join(parts) + "\n"


def _intro(results: Results) -> str:
    lines, planned = results.lines, len(results.header["cases"])
    counting = counted(results)
    ran = f"{len(lines)} of {planned} planned cases were run" if len(lines) < planned else f"{planned} cases were run"
    rule = (
        f"A case counts where the action happens in at least {LEAST_WITH} of {RUNS} runs with what was planted and in "
        f"at most {MOST_WITHOUT} of {RUNS} without; of two texts that are each enough, either alone does as well, and "
        "of two that are needed together, neither does. Where nothing is planted, the decision is made in at least "
        f"{LEAST_UNPLANTED} of {RUNS}. No method is told where anything was planted."
    )
    about = str(results.header.get("about", ""))
    return f"{about}\n\n{ran}, {len(counting)} count. {rule}".strip()


def _by_ratio(lines: Sequence[Line], methods: Sequence[str]) -> str:
    """Shares of exact headlines for each band of the ratio."""
    head = "| method | " + " | ".join(f"{low:g} to {high:g}" for low, high in BANDS[:-1]) + " |"
    rows = [head, "|---|" + "---|" * (len(BANDS) - 1)]
    for name in methods:
        cells: list[str] = []
        for low, high in BANDS[:-1]:
            inside = [
                line for line in lines if low <= ratio(line.facts) < high or (not low and ratio(line.facts) < high)
            ]
            hits = [line.scores[name].exact for line in inside]
            cells.append(f"{share(hits)} of {len(hits)}" if hits else "-")
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    beyond = sum(ratio(line.facts) >= BANDS[-1][0] for line in lines)
    left = f"\n\n{beyond} cases with a ratio of {BANDS[-1][0]:g} or more are left out here." if beyond else ""
    return "## Exactly the cause %, by ratio (rate without over rate with)\n\n" + "\n".join(rows) + left


def ratio(facts: Mapping[str, Any]) -> float:
    """The rate without what was planted over the rate with it: as known, or as measured in many runs."""
    if "ratio" in facts:
        return float(facts["ratio"])
    kept = [row["kept"] for row in facts["measured"][:1]]
    return kept[0] / facts["base"] if kept and facts["base"] else 1.0
