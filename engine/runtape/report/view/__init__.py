"""The report of `why` as one page: the context, each piece coloured by what became of it.

One self-contained HTML document without a build step, for two uses: a host of MCP Apps opens it empty and hands it the
data; a file holds its data. The policy in it lets nothing run or load but its own script and style, and its script
sets recorded text as text only.
"""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources

from ...wire.values import JsonObject

_POLICY = (
    "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'"
)


def why_view(data: JsonObject | None = None) -> str:
    """The page as HTML; with `data` (see `runtape.report.view_fields`) it draws them at once and asks no host."""
    folder = resources.files(__name__)
    page, style, script = ((folder / name).read_text(encoding="utf-8") for name in ("why.html", "why.css", "why.js"))
    policy = _POLICY.format(script=_digest(script), style=_digest(style))
    held = "" if data is None else f'<script type="application/json" id="data">{_inert(data)}</script>'
    parts = {"POLICY": policy, "STYLE": style, "DATA": held, "SCRIPT": script}
    head, *rest = page.split("{{")
    return head + "".join(parts[name] + text for name, _, text in (part.partition("}}") for part in rest))


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _inert(data: JsonObject) -> str:
    """JSON that ends no element, whatever its texts say."""
    text = json.dumps(data, ensure_ascii=True)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
