"""The tool `list_traces`."""

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field

from ..answers import result
from ..listing import listing, listing_prose
from ..schemas import TraceList
from ..state import State
from ..tool import published

Query = Annotated[str, Field(description="Part of a run's or tool's name", max_length=100)]
Limit = Annotated[int, Field(description="Most rows", ge=1, le=50)]
Cursor = Annotated[str, Field(description="next_cursor of the last page", max_length=200)]


async def list_traces(
    ctx: Context[State], query: Query = "", limit: Limit = 20, cursor: Cursor = ""
) -> Annotated[CallToolResult, TraceList]:
    """List recorded runs, newest first. Start here; then show_event."""
    answer = await listing(ctx.request_context.lifespan_context.library, query, limit, cursor)
    return result(answer, listing_prose(answer))


TOOL = published(list_traces, title="List runs", read_only=True, idempotent=True, open_world=False)
