"""A line chart as SVG: a few small panels with logarithmic scales, in the colours of light and dark pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10

WIDTH, HEIGHT = 340, 210
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 34, 40
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#57606a}.title{font-weight:600}line{stroke:#8c959f;stroke-opacity:.35}"
    "polyline{fill:none;stroke:#0969da;stroke-width:2}circle{fill:#0969da}"
    "@media(prefers-color-scheme:dark){text{fill:#9198a1}polyline{stroke:#4493f8}circle{fill:#4493f8}}"
)


@dataclass(frozen=True, slots=True)
class Panel:
    """One curve."""

    title: str
    across: str
    """What the horizontal axis counts."""
    points: Sequence[tuple[float, float]]


def chart(panels: Sequence[Panel], said: str, *, across: int = 2) -> str:
    """The panels in rows; `said` describes the whole for those who cannot see it."""
    rows = -(-len(panels) // across)
    size = f'viewBox="0 0 {WIDTH * across} {HEIGHT * rows}" width="{WIDTH * across}" height="{HEIGHT * rows}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(said)}">'
    drawn = [
        f'<g transform="translate({WIDTH * (at % across)} {HEIGHT * (at // across)})">{_panel(panel)}</g>'
        for at, panel in enumerate(panels)
    ]
    return "\n".join([head, f"<style>{STYLE}</style>", *drawn, "</svg>"]) + "\n"


def _panel(panel: Panel) -> str:
    xs, ys = ([max(point[axis], 1e-3) for point in panel.points] for axis in (0, 1))
    low_x, high_x = log10(min(xs)), log10(max(xs))
    low_y, high_y = floor(log10(min(ys))), floor(log10(max(ys))) + 1

    def place(x: float, y: float) -> tuple[float, float]:
        right = LEFT + (log10(x) - low_x) / ((high_x - low_x) or 1) * (WIDTH - LEFT - RIGHT)
        return right, HEIGHT - BOTTOM - (log10(y) - low_y) / (high_y - low_y) * (HEIGHT - TOP - BOTTOM)

    parts = [f'<text class="title" x="{LEFT}" y="18">{escape(panel.title)}</text>']
    for power in range(low_y, high_y + 1):
        _, down = place(xs[0], 10.0**power)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{down:.1f}" y2="{down:.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{down + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for x in xs:
        right, _ = place(x, ys[0])
        parts.append(f'<text x="{right:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{x:g}</text>')
    spots = [place(x, y) for x, y in zip(xs, ys, strict=True)]
    parts.append(f'<polyline points="{" ".join(f"{right:.1f},{down:.1f}" for right, down in spots)}"/>')
    for (right, down), (x, y) in zip(spots, panel.points, strict=True):
        parts.append(f'<circle cx="{right:.1f}" cy="{down:.1f}" r="3"><title>{x:g}: {y:g}</title></circle>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{escape(panel.across)}</text>')
    return "".join(parts)
