"""A recorded run as a local web page: the page, and the parts of the run that it asks for.

Whoever can make a browser ask this address must not read the run: the path begins with a token that only the printed
address tells, the `Host` must be this server's own (a name that an attacker's DNS leads here is refused), and a request
that says it comes from another site is refused too.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ..errors import RuntapeError
from ..report.results import WhyReport
from ..report.trace_fields import ROWS, decision_fields, event_fields, found_fields, rows_fields, timeline_fields
from ..report.view import trace_view
from ..trace.trace import Trace
from ..wire.values import JsonObject

_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_OWN_SITES = frozenset({"", "none", "same-origin"})
"""`Sec-Fetch-Site` of an address that a person opened, and of what the page asks for itself."""
_LONGEST_TERM = 10_000


class Viewer:
    """The application; `path` is the address of the page on it."""

    def __init__(self, trace: Trace, reports: Mapping[int, WhyReport], authority: str) -> None:
        """Serve `trace`.

        Args:
            trace: The run.
            reports: What is known about decisions, by the number of their `llm_response`.
            authority: Host and port under which this is reached, as in `127.0.0.1:8000`.
        """
        self.path = f"/{secrets.token_urlsafe(24)}/"
        self._trace = trace
        self._reports = reports
        self._authority = authority

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request (ASGI)."""
        if scope["type"] != "http":
            return
        response = await self._answer(Request(scope, receive))
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if refusal := self._refusal(request):
            return _text(403, refusal)
        if request.method != "GET":
            return _text(405, "Only GET is answered here.")
        path = request.url.path
        if not secrets.compare_digest(path[: len(self.path)].encode(), self.path.encode()):
            return _text(404, "There is nothing here. Open the address that runtape view printed.")
        asked = path[len(self.path) :]
        if not asked:
            return Response(trace_view(), media_type="text/html", headers=_HEADERS)
        try:
            fields = await anyio.to_thread.run_sync(self._part, asked, request.query_params.get("term", ""))
        except RuntapeError as error:
            return _text(404, str(error))
        if fields is None:
            return _text(404, "There is no such part of a run.")
        return Response(json.dumps(fields), media_type="application/json", headers=_HEADERS)

    def _refusal(self, request: Request) -> str:
        own = f"http://{self._authority}"
        if request.headers.get("host") != self._authority:
            return "This address is answered under its own name only."
        if request.headers.get("origin", own) != own or request.headers.get("sec-fetch-site", "") not in _OWN_SITES:
            return "Other sites may not read this."
        return ""

    def _part(self, asked: str, term: str) -> JsonObject | None:
        kind, _, number = asked.partition("/")
        known = int(number) if number.isascii() and number.isdigit() and len(number) < 17 else None
        match kind:
            case "timeline" if not number:
                return timeline_fields(self._trace, self._reports, ROWS)
            case "rows" if known is not None:
                return rows_fields(self._trace, known, ROWS)
            case "search" if not number:
                return found_fields(self._trace, term[:_LONGEST_TERM])
            case "event" if known is not None:
                return event_fields(self._trace.event(known))
            case "context" if known is not None:
                return decision_fields(self._trace, known, self._reports)
            case _:
                return None


def _text(status: int, said: str) -> Response:
    return Response(said, status, media_type="text/plain", headers=_HEADERS)
