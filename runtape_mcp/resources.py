"""What a client can read or attach without calling a tool."""

from __future__ import annotations

import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError

from runtape.errors import RuntapeError

from .documents import to_fenced
from .failures import told
from .fence import Fence
from .library import Library
from .listing import listing, listing_prose
from .pages import page_of
from .paths import public_name
from .state import State
from .trace_pages import event_page, timeline_page
from .views import Part

REPORT = 40_000
"""Characters of a report; a client attaches it whole."""
MARKDOWN = "text/markdown"


def add(server: MCPServer[State], library: Library) -> None:
    """Registers the resources of this server."""

    @server.resource("runtape://traces", name="traces", title="Recorded runs", mime_type=MARKDOWN)
    async def traces() -> str:
        """The newest recorded runs."""
        return listing_prose(await listing(library, "", 20, ""))

    @server.resource("runtape://trace/{trace}", name="trace", title="Timeline of a run", mime_type=MARKDOWN)
    async def timeline(trace: str) -> str:
        """The events of a recorded run, one row each."""
        try:
            path = await library.find(trace)
            recorded = await library.load(path)
            name = public_name(path)
            return await anyio.to_thread.run_sync(timeline_page, name, recorded, Part())
        except RuntapeError as exc:
            raise ResourceNotFoundError(told(exc)) from exc

    @server.resource("runtape://trace/{trace}/event/{event}", name="event", title="One event", mime_type=MARKDOWN)
    async def one_event(trace: str, event: str) -> str:
        """One recorded event."""
        try:
            path = await library.find(trace)
            recorded = await library.load(path)
            name = public_name(path)
            return await anyio.to_thread.run_sync(event_page, name, recorded, event, Part())
        except RuntapeError as exc:
            raise ResourceNotFoundError(told(exc)) from exc

    @server.resource("runtape://report/{job}", name="report", title="Report of an investigation", mime_type=MARKDOWN)
    async def report(job: str, ctx: Context[State]) -> str:
        """What a why, fix or rerun found so far."""
        found = ctx.request_context.lifespan_context.jobs.find(job)
        if found is None:
            raise ResourceNotFoundError(
                "This server knows no such job. Call why, fix or rerun with the same arguments as before: the answer "
                "names the job, and nothing is paid for twice."
            )
        page = page_of(found)
        head = f"{found.verb} is {found.status} after {found.calls} model calls."
        if page is None:
            return head
        fence = Fence()
        return f"{head}\n\n{fence.warning}\n\n{to_fenced(page, fence, limit=REPORT, elsewhere='show_event')}"
