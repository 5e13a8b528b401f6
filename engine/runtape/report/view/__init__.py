"""Pages without a build step: the report of `why` over its context, and a run with everything in it.

Each is one self-contained HTML document. Data comes with the page in a file, from a host of MCP Apps, or from the
server that the page came from. The policy in it lets nothing run or load but its own script and style, and its script
sets recorded text as text only.
"""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources

from ...wire.values import JsonObject

_POLICY = (
    "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; connect-src {connect}; "
    "base-uri 'none'; form-action 'none'"
)


def why_view(data: JsonObject | None = None) -> str:
    """The report as HTML; with `data` (see `runtape.report.view_fields`) it draws them at once and asks no host."""
    return _page("why.html", ["context.css"], ["context.js", "why.js"], data, "'none'")


def trace_view(data: JsonObject | None = None) -> str:
    """The run as HTML; with `data` (`whole_fields` of `runtape.report.trace_fields`) it needs no server.

    Without them it asks for `timeline`, `rows/N`, `event/N`, `context/N` and `search?term=...` beside its own address.
    """
    styles, scripts = ["context.css", "trace.css"], ["context.js", "trace.js"]
    return _page("trace.html", styles, scripts, data, "'self'" if data is None else "'none'")


def _page(template: str, styles: list[str], scripts: list[str], data: JsonObject | None, connect: str) -> str:
    folder = resources.files(__name__)
    page = (folder / template).read_text(encoding="utf-8")
    style, script = (
        "".join((folder / name).read_text(encoding="utf-8") for name in names) for names in (styles, scripts)
    )
    policy = _POLICY.format(script=_digest(script), style=_digest(style), connect=connect)
    held = "" if data is None else f'<script type="application/json" id="data">{_inert(data)}</script>'
    parts = {"POLICY": policy, "STYLE": style, "DATA": held, "SCRIPT": script}
    head, *rest = page.split("{{")
    return head + "".join(parts[name] + text for name, _, text in (part.partition("}}") for part in rest))


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _inert(data: JsonObject) -> str:
    """JSON that ends no element, whatever its texts say."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
