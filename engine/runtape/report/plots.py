"""Drawings of a `why` report as inline SVG: rates with their intervals, and the context as a heat strip.

Colours and fonts come from the style sheet of the page, by class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..context.pieces import Context
from ..stats.rates import wilson
from ..text import shorten
from .html import escaped
from .phrases import of
from .results import Cause, Count, WhyReport

_WIDTH, _STRIP = 720, 28
_PLOT, _LEFT, _RIGHT, _ROW = 440, 18, 80, 40
"""The plot is narrow, with each label above its line, so that it can be read on a telephone."""
_LABEL = 52
"""Characters of a label."""
_LEAST = 12
"""Characters of a text that tell anything."""
_HINTS = 8
"""Shifts that were seen and not proven, largest first, that are drawn."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How often the decision was made with one variant of the context."""

    label: str
    count: Count
    kind: str
    """A class of the style sheet: `base`, `proven` or `suspected`."""
    text: str = ""
    """What was left out, as recorded."""


def rates(report: WhyReport) -> list[Rate]:
    """As recorded, without each proven cause, and without what was only seen to matter; variants with reruns."""
    found = [Rate("as recorded", report.base, "base")]
    found += [
        Rate(f"without {_refs(cause.refs)}", cause.without, "proven", " / ".join(cause.texts))
        for cause in report.causes
    ]
    found += [
        Rate(f"without {_refs(hint.refs)}", hint.without, "suspected", " / ".join(hint.texts))
        for hint in report.shifts[:_HINTS]
    ]
    return [rate for rate in found if rate.count[1]]


def rate_plot(report: WhyReport) -> str:
    """One row for each variant: its rate as a dot, the 95% interval of it as a line, the counts behind."""
    rows = rates(report)
    height = _ROW * len(rows) + 30
    lines = [_open("plot", (_PLOT, height), "How often the decision was made, by variant of the context")]
    for share in (0.0, 0.5, 1.0):
        x = _x(share)
        lines.append(f'<line class="grid" x1="{x:.1f}" y1="4" x2="{x:.1f}" y2="{height - 22}"/>')
        lines.append(f'<text class="axis" x="{x:.1f}" y="{height - 6}" text-anchor="middle">{share:.0%}</text>')
    for at, rate in enumerate(rows):
        kept, n = rate.count
        interval, y = wilson(kept, n), at * _ROW + 30
        label = f'<text x="{_LEFT}" y="{y - 12}">{_label(rate)}</text>'
        low, high = _x(interval.low), _x(interval.high)
        span = f'<line class="interval {rate.kind}" x1="{low:.1f}" y1="{y}" x2="{high:.1f}" y2="{y}"/>'
        dot = f'<circle class="{rate.kind}" cx="{_x(kept / n):.1f}" cy="{y}" r="5"/>'
        counts = f'<text class="axis" x="{_PLOT - _RIGHT + 14}" y="{y + 4}">{of(rate.count)}</text>'
        said = f"{rate.label}: {of(rate.count)} reruns, 95% interval {interval.low:.0%} to {interval.high:.0%}"
        lines.append(f"<g><title>{escaped(said)}</title>{label}{span}{dot}{counts}</g>")
    return "".join([*lines, "</svg>"])


def heat_strip(report: WhyReport, context: Context) -> str:
    """The context from left to right: each piece as wide as it is long, coloured by what became of it.

    The deeper the colour of a proven piece, the larger the drop of the rate without it.
    """
    states = dict(report.pieces)
    causes = {ref: cause for cause in reversed(report.causes) for ref in cause.refs}
    parts = list(_parts(context, states, causes))
    total = sum(width for width, _, _, _ in parts) or 1
    lines = [_open("strip", (_WIDTH, _STRIP + 2), "The context of the decision, piece by piece")]
    x = 0.0
    for length, state, depth, said in parts:
        width = _WIDTH * length / total
        shape = f'<rect class="{state}" x="{x:.2f}" y="1" width="{max(width, 0.6):.2f}" height="{_STRIP}"'
        opacity = f' opacity="{depth:.2f}"' if depth < 1 else ""
        lines.append(f"{shape}{opacity}><title>{escaped(said)}</title></rect>")
        x += width
    return "".join([*lines, "</svg>"])


def _parts(
    context: Context, states: Mapping[str, str], causes: Mapping[str, Cause]
) -> Iterator[tuple[int, str, float, str]]:
    """For each piece its length, its state, how deep its colour is (0-1), and what is said when it is pointed at."""
    for index in context.leaves:
        piece = context.pieces[index]
        state = states.get(piece.ref, "untried")
        said, depth = f"{piece.ref}: {state}", 1.0
        cause = causes.get(piece.ref)
        if cause is not None:
            (kept, n), (less, m) = cause.with_, cause.without
            depth = 0.35 + 0.65 * max(0.0, (kept / n if n else 0.0) - (less / m if m else 0.0))
            said += f"; {of(cause.with_)} reruns with it, {of(cause.without)} without it"
        yield max(1, len(piece.text)), state, depth, f"{said}. {shorten(piece.text, 160)}"


def _label(rate: Rate) -> str:
    room = _LABEL - len(rate.label)
    if not rate.text or room < _LEAST:
        return escaped(shorten(rate.label, _LABEL))
    return f"{escaped(rate.label)}: <tspan>{escaped(' '.join(rate.text.split())[:room])}</tspan>"


def _open(name: str, size: tuple[int, int], said: str) -> str:
    width, height = size
    box = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f'<svg class="{name}" {box} role="img" aria-label="{said}">'


def _x(share: float) -> float:
    return _LEFT + share * (_PLOT - _LEFT - _RIGHT)


def _refs(refs: list[str]) -> str:
    return refs[0] if len(refs) == 1 else f"{refs[0]} and {len(refs) - 1} more"
