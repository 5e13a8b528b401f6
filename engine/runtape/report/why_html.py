"""The report of `why` as one HTML file without scripts: the answer, its drawings, then everything else."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources

from ..context.pieces import Context
from .document import Quote
from .html import to_html
from .plots import heat_strip, rate_plot
from .results import WhyReport
from .step import Spell
from .why_page import why_page

_LEGEND = (
    ("proven", "proven"),
    ("suspected", "suspected, not proven"),
    ("cleared", "cleared"),
    ("held", "kept in place"),
    ("untried", "not examined"),
)


def why_html(report: WhyReport, context: Context, spell: Spell | None = None) -> str:
    """The blocks of `why_page` with the rates and the context drawn behind the answer.

    Args:
        report: What is known, finished or not.
        context: The context that was searched.
        spell: How what to do next is spelled; None to leave it out.
    """
    page = why_page(report, spell)
    blocks = to_html(page)
    behind = next((at + 1 for at, block in enumerate(page) if isinstance(block, Quote)), 2)
    seen = {state for _, state in report.pieces}
    legend = "".join(f'<li><span class="{state}"></span>{said}</li>' for state, said in _LEGEND if state in seen)
    drawings = [
        "<h2>How often the decision was made</h2>",
        rate_plot(report),
        "<h2>The context, from its beginning to its end</h2>",
        heat_strip(report, context),
        f'<ul class="legend">{legend}</ul>',
    ]
    style = (resources.files(__name__.rpartition(".")[0]) / "report.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="referrer" content="no-referrer">\n<title>Why this decision</title>\n'
        f"<style>{style}</style>\n</head>\n"
    )
    body = "\n".join([*blocks[:behind], *drawings, *blocks[behind:]])
    return f"{head}<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
