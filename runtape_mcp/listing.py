"""The recorded runs, page by page."""

from __future__ import annotations

from mcp.server.mcpserver.exceptions import ToolError

from runtape.trace.summary import Summary

from .fence import Fence
from .foreign import offer
from .library import Entry, Library
from .schemas import TraceList, TraceRow

ROOM = 3600
"""Characters of the rows of a page; with the same as prose under 8,000."""
TOOLS = 12
"""Tools named for one run."""

_NEXT = "Call show_event with a trace for its timeline; then why with the trace and the event of the bad decision."
_NONE = (
    "No recorded run is there. Record one with runtape.record() in the agent, or launch runtape-mcp with --traces and "
    "the folder that holds them; runtape-mcp --check prints where it looks."
)


async def listing(library: Library, query: str, limit: int, cursor: str) -> TraceList:
    """One page of the runs, newest first.

    Args:
        library: Where they are.
        query: Part of the name of a run or of a tool, letter case aside; empty for all.
        limit: Most rows.
        cursor: Name of the last run of the page before; empty for the first page.

    Raises:
        ToolError: the cursor is none of this listing.
    """
    entries = await library.entries()
    start = 0
    if cursor:
        names = [entry.name for entry in entries]
        if cursor not in names:
            raise ToolError(
                "That cursor belongs to no page of this listing. Call list_traces without cursor to start anew."
            )
        start = names.index(cursor) + 1
    fence = Fence()
    rows: list[TraceRow] = []
    used = 0
    more = False
    for entry in entries[start:]:
        summary = await library.summary(entry)
        if query and not _fits(entry, summary, query.lower()):
            continue
        row = _row(entry, summary, fence)
        used += len(row.model_dump_json())
        if len(rows) == limit or (rows and used > ROOM):
            more = True
            break
        rows.append(row)
    if rows:
        step = _NEXT
    elif query and entries:
        step = "No run fits the query. Call list_traces without query for all of them."
    else:
        step = _NONE
    if not query and not cursor:
        step += offer(library.folder, await library.foreign())
    return TraceList(traces=rows, next_cursor=rows[-1].trace if more else None, next=step)


def listing_prose(page: TraceList) -> str:
    """A page as text."""
    lines = [
        f"- {row.trace}: {row.status}, started {row.started or 'unknown'}, {row.events:,} events, "
        f"{row.model_calls:,} model calls, tools {', '.join(row.tools) or 'none'}"
        for row in page.traces
    ]
    more = [f'More with cursor="{page.next_cursor}".'] if page.next_cursor else []
    return "\n".join([*lines, *more, f"Next: {page.next}"])


def _fits(entry: Entry, summary: Summary | None, query: str) -> bool:
    tools = summary.tools if summary is not None else ()
    return query in entry.name.lower() or any(query in tool.lower() for tool in tools)


def _row(entry: Entry, summary: Summary | None, fence: Fence) -> TraceRow:
    if summary is None:
        return TraceRow(
            trace=entry.name, started="", status="unreadable", events=0, model_calls=0, tools=[], size=entry.size
        )
    tools = [fence.show(tool) for tool in summary.tools[:TOOLS]]
    if len(summary.tools) > TOOLS:
        tools.append(f"and {len(summary.tools) - TOOLS} more")
    return TraceRow(
        trace=entry.name,
        started=summary.started or "",
        status=summary.status,
        events=summary.events,
        model_calls=summary.model_calls,
        tools=tools,
        size=entry.size,
    )
