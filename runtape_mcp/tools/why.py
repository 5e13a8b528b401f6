"""The tool `why`."""

# ruff: noqa: ARG001, PLR0917 - the client and the resolvers pass arguments by name

from typing import Annotated

from mcp.server.mcpserver import Context, ElicitationResult, Resolve
from mcp.types import CallToolResult
from pydantic import Field

from ..agreement import asking
from ..answers import why_answer
from ..app import PAGE
from ..attend import Prepared, answered, prepare
from ..consent import Spend
from ..fence import Fence
from ..schemas import Args, EventRef, ExactArgs, Judge, Match, MaxCalls, Tool, TraceName, Where, WhyAnswer
from ..state import State
from ..tool import published
from ..verbs import Decision, Depth, WhyQuestion

Suspects = Annotated[list[str], Field(description="Refs or quotes to examine first", max_length=20)]
Ask = Annotated[bool, Field(description="Ask the model too")]
Precise = Annotated[bool, Field(description="Narrower intervals, more calls")]
Fast = Annotated[bool, Field(description="Fewer rounds, more calls")]
DepthOf = Annotated[Depth, Field(description="quick: leading cause. full: all. upstream: its origin")]


async def _prepare(
    ctx: Context[State],
    trace: str,
    event: int | str,
    tool: str | None,
    match: str | None,
    exact_args: bool,  # noqa: FBT001 - filled by name
    args: list[str],
    where: str | None,
    judge: str | None,
    suspects: list[str],
    depth: Depth,
    ask: bool,  # noqa: FBT001 - filled by name
    precise: bool,  # noqa: FBT001 - filled by name
    fast: bool,  # noqa: FBT001 - filled by name
) -> Prepared:
    state = ctx.request_context.lifespan_context
    decision = Decision(await state.library.find(trace), event, tool, match, exact_args, tuple(args), where, judge)
    quoted = tuple(map(Fence.unfenced, suspects))
    return await prepare(state, "why", WhyQuestion(decision, quoted, depth, ask, precise, fast))


async def why(
    ctx: Context[State],
    trace: TraceName,
    event: EventRef,
    prepared: Annotated[Prepared, Resolve(_prepare)],
    spend: Annotated[ElicitationResult[Spend], Resolve(asking(_prepare))],
    tool: Tool = None,
    match: Match = None,
    exact_args: ExactArgs = False,  # noqa: FBT002 - filled by name
    args: Args = [],  # noqa: B006 - never changed
    where: Where = None,
    judge: Judge = None,
    suspects: Suspects = [],  # noqa: B006 - never changed
    depth: DepthOf = "quick",
    ask: Ask = False,  # noqa: FBT002 - filled by name
    precise: Precise = False,  # noqa: FBT002 - filled by name
    fast: Fast = False,  # noqa: FBT002 - filled by name
    max_calls: MaxCalls = None,
) -> Annotated[CallToolResult, WhyAnswer]:
    """Find the text that made a recorded agent decide so, proven by rerunning that model call without it.

    Often 20 to 60 model calls: while status is running, call again with the same arguments;
    nothing is paid twice. Then call fix.
    """
    return await answered(ctx, prepared, max_calls, spend, why_answer)


TOOL = published(why, title="Explain a decision", read_only=False, idempotent=True, open_world=True, page=PAGE)
