"""The view: the report of `why` as a page, for hosts of MCP Apps.

The page is constant. What it shows it reads from this server through its host, by the name of the job; recorded text
is fenced there as everywhere.
"""

from __future__ import annotations

import json
from pathlib import Path

import anyio.to_thread
from mcp.server.apps import Apps, ResourceCsp
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError

from runtape.errors import RuntapeError
from runtape.report.results import FixReport, WhyReport
from runtape.trace.trace import Trace

from .answers import shown
from .failures import told
from .fence import Fence
from .jobs import Job
from .library import Library
from .state import State

PAGE = "ui://runtape/why.html"
"""Address of the page; the tool `why` names it."""
PASSAGE = 4_000
"""Characters of each recorded text."""


def apps() -> Apps:
    """The extension that offers the page. It loads and connects to nothing."""
    from runtape.report.view import why_view

    offered = Apps()
    nothing = ResourceCsp(connect_domains=[], resource_domains=[], frame_domains=[], base_uri_domains=[])
    offered.add_html_resource(
        PAGE,
        why_view(),
        name="why",
        title="Why this decision",
        description="The report of why as a page: the context, each piece coloured by what became of it.",
        csp=nothing,
        prefers_border=True,
    )
    return offered


def add(server: MCPServer[State], library: Library) -> None:
    """Registers the data of the page."""

    @server.resource("runtape://view/{job}", name="view", title="Data of the view", mime_type="application/json")
    async def view(job: str, ctx: Context[State]) -> str:
        """The context of a decision, each piece with what became of it."""
        found = ctx.request_context.lifespan_context.jobs.find(job)
        report = None if found is None else _why(found)
        if found is None or report is None:
            raise ResourceNotFoundError("There is no report of that name. Call why; its answer names the job.")
        try:
            trace = await library.load(Path(report.trace))
            return await anyio.to_thread.run_sync(_data, found, report, trace)
        except RuntapeError as exc:
            raise ResourceNotFoundError(told(exc)) from exc


def _why(job: Job) -> WhyReport | None:
    match job.report:
        case WhyReport() as report:
            return report
        case FixReport(why=report):
            return report
        case _:
            return None


def _data(job: Job, report: WhyReport, trace: Trace) -> str:
    # Loaded by the time there is a report.
    from runtape.ops.case import open_case
    from runtape.report.view_fields import view_fields

    context = open_case(trace, report.event).context
    fields = view_fields(report, context, shown(Fence(), PASSAGE))
    return json.dumps({"job": job.id, "status": job.status, **fields, "calls": job.calls})
