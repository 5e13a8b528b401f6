"""The tool `why`."""

# ruff: noqa: ARG001, PLR0917 - the client and the resolvers pass arguments by name

from typing import Annotated, Literal

from mcp.server.mcpserver import Context, Elicit, ElicitationResult, Resolve
from mcp.types import CallToolResult
from pydantic import Field

from ..answers import result, why_answer
from ..attend import Prepared, ask_user, attend, next_for, prepare
from ..consent import Spend
from ..fence import Fence
from ..pages import page_of
from ..prose import prose
from ..schemas import EventRef, ExactArgs, Match, MaxCalls, Tool, TraceName, WhyAnswer
from ..state import State
from ..tool import published
from ..verbs import Decision, WhyQuestion

Suspects = Annotated[list[str], Field(description="Refs or quotes to examine first", max_length=20)]
Depth = Annotated[
    Literal["quick", "full", "upstream"],
    Field(description="quick: leading cause. full: all. upstream: origins"),
]


async def _prepare(
    ctx: Context[State],
    trace: str,
    event: int | str,
    tool: str | None,
    match: str | None,
    exact_args: bool,  # noqa: FBT001 - filled by name
    suspects: list[str],
    depth: Literal["quick", "full", "upstream"],
) -> Prepared:
    state = ctx.request_context.lifespan_context
    decision = Decision(await state.library.find(trace), event, tool, match, exact_args)
    return await prepare(state, "why", WhyQuestion(decision, tuple(suspects), depth))


def _ask(
    ctx: Context[State], prepared: Annotated[Prepared, Resolve(_prepare)], max_calls: int | None
) -> Elicit[Spend] | Spend:
    return ask_user(ctx, prepared, max_calls)


async def why(
    ctx: Context[State],
    trace: TraceName,
    event: EventRef,
    prepared: Annotated[Prepared, Resolve(_prepare)],
    spend: Annotated[ElicitationResult[Spend], Resolve(_ask)],
    tool: Tool = None,
    match: Match = None,
    exact_args: ExactArgs = False,  # noqa: FBT002 - filled by name
    suspects: Suspects = [],  # noqa: B006 - never changed
    depth: Depth = "quick",
    max_calls: MaxCalls = None,
) -> Annotated[CallToolResult, WhyAnswer]:
    """Find the text that made a recorded agent take a decision, proven by rerunning that model call without it.

    Costs model calls (often 20 to 60) and may take minutes: while status is running, call again with the same
    arguments; nothing is paid for twice. Then call fix.
    """
    job = await attend(ctx, prepared, max_calls, spend)
    fence = Fence()
    step = next_for(ctx, job, fence, max_calls)
    return result(why_answer(job, fence, step), prose(job, page_of(job), fence, step))


TOOL = published(why, title="Why did the agent do that?", read_only=False, idempotent=True, open_world=True)
