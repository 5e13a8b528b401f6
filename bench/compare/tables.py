"""Markdown tables of compared methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

import numpy as np

from runtape.stats.rates import wilson

from .cases import Answer, Score
from .intervals import Difference, paired_means, paired_shares
from .lines import Line
from .methods import WHY

METHOD_HEADINGS = (
    "| method | cases | exactly the cause % (95%) | holds it % (95%) | something false % (95%) | calls median / p90 "
    "| requests | tokens | seconds |\n|---|---|---|---|---|---|---|---|---|"
)
PAIRED_HEADINGS = (
    "| {first} minus | exactly the cause, points (95%) | McNemar p | calls, mean (95%) | Wilcoxon p |\n"
    "|---|---|---|---|---|"
)


def methods_table(lines: Sequence[Line], methods: Sequence[str], *, null: bool = False) -> str:
    """One row for each method over the same cases. `null`: no case has a cause, so that naming none is right."""
    rows = [_row(lines, name, null=null) for name in methods]
    return "\n".join([METHOD_HEADINGS, *rows])


def _row(lines: Sequence[Line], name: str, *, null: bool) -> str:
    answers = [line.answers[name] for line in lines]
    calls = [answer.calls for answer in answers]
    cells = [
        name,
        str(len(lines)),
        share(_hits(lines, name, lambda score: score.exact)),
        "-" if null else share(_hits(lines, name, lambda score: score.holds)),
        share(_hits(lines, name, lambda score: score.false)),
        f"{figure(median(calls))} / {figure(float(np.percentile(calls, 90)))}",
        figure(median(answer.requests for answer in answers)),
        f"{round(median(map(_tokens, answers))):,}",
        f"{median(answer.seconds for answer in answers):.2g}",
    ]
    return "| " + " | ".join(cells) + " |"


def paired_table(lines: Sequence[Line], methods: Sequence[str], *, first: str = WHY) -> str:
    """How much better and cheaper `first` is than each other method on the same cases."""
    rows = [PAIRED_HEADINGS.format(first=f"`{first}`")]
    for name in methods:
        if name == first:
            continue
        hits = paired_shares(*(_hits(lines, one, lambda score: score.exact) for one in (first, name)))
        calls = paired_means(*([line.answers[one].calls for line in lines] for one in (first, name)))
        cells = [name, points(hits), p_value(hits.p), span(calls), p_value(calls.p)]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _hits(lines: Sequence[Line], name: str, of: Callable[[Score], bool]) -> list[bool]:
    return [of(line.scores[name]) for line in lines]


def _tokens(answer: Answer) -> int:
    return answer.prompt_tokens + answer.reply_tokens


def share(hits: Sequence[bool]) -> str:
    """A percentage with Wilson's interval."""
    if not hits:
        return "-"
    interval = wilson(sum(hits), len(hits))
    return f"{figure(100 * sum(hits) / len(hits))} ({figure(100 * interval.low)} to {figure(100 * interval.high)})"


def points(of: Difference) -> str:
    """A difference of shares in percentage points."""
    return f"{100 * of.value:+.1f} ({100 * of.low:+.1f} to {100 * of.high:+.1f})"


def span(of: Difference) -> str:
    """A difference of costs."""
    return f"{of.value:+.1f} ({of.low:+.1f} to {of.high:+.1f})"


def p_value(p: float) -> str:
    """Two digits."""
    return f"{p:.2g}" if p >= 1e-4 else "< 0.0001"


def figure(value: float) -> str:
    """At most one decimal."""
    return f"{value:.1f}".removesuffix(".0")
