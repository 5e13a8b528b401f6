"""The tool `stop`."""

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult
from pydantic import Field

from ..answers import result
from ..fence import Fence
from ..schemas import Stopped
from ..state import State
from ..tool import published

PATIENCE = 10.0
"""Seconds to wait for model calls that are on their way."""


async def stop(
    ctx: Context[State], job: Annotated[str, Field(description="Job of an answer", max_length=80)]
) -> Annotated[CallToolResult, Stopped]:
    """Stop a why, fix or rerun: no further model call starts. Findings are kept."""
    jobs = ctx.request_context.lifespan_context.jobs
    found = jobs.find(job)
    if found is None:
        raise ToolError(
            f"This server knows no job {Fence.words(job, 80)!r}, so nothing of it is running here. Jobs are named in "
            "the answers of why, fix and rerun, and live as long as the server."
        )
    await jobs.stop(found, PATIENCE)
    answer = Stopped(status=found.status, calls=found.calls)
    if found.status == "done":
        return result(answer, f"It was done already, after {found.calls} model calls.")
    busy = " Model calls that were on their way are being finished." if found.active else ""
    return result(answer, f"Stopped after {found.calls} model calls; no further one starts.{busy}")


TOOL = published(stop, title="Stop a job", read_only=False, idempotent=True, open_world=False)
