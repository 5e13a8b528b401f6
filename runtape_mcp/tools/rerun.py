"""The tool `rerun`."""

# ruff: noqa: ARG001, PLR0917 - the client and the resolvers pass arguments by name

from typing import Annotated

from mcp.server.mcpserver import Context, ElicitationResult, Resolve
from mcp.types import CallToolResult
from pydantic import Field

from ..agreement import asking
from ..answers import rerun_answer
from ..attend import Prepared, answered, prepare
from ..consent import Spend
from ..fence import Fence
from ..schemas import EventRef, MaxCalls, Replace, RerunAnswer, TraceName
from ..state import State
from ..tool import published
from ..verbs import Decision, RerunQuestion

Runs = Annotated[int, Field(description="Reruns that count", ge=1, le=100)]
Drops = Annotated[list[str], Field(description="Refs to leave out", max_length=50)]
System = Annotated[str | None, Field(description="Whole system prompt")]
AddSystem = Annotated[str | None, Field(description="Append to system prompt")]
OtherModel = Annotated[str | None, Field(description="Other model, same API")]


async def _prepare(
    ctx: Context[State],
    trace: str,
    event: int | str,
    runs: int,
    drop: list[str],
    replace: dict[str, str] | str | None,
    system: str | None,
    add_system: str | None,
    model: str | None,
) -> Prepared:
    state = ctx.request_context.lifespan_context
    decision = Decision(await state.library.find(trace), event)
    question = RerunQuestion(decision, runs, tuple(map(Fence.unfenced, drop)), replace, system, add_system, model)
    return await prepare(state, "rerun", question)


async def rerun(
    ctx: Context[State],
    trace: TraceName,
    event: EventRef,
    prepared: Annotated[Prepared, Resolve(_prepare)],
    spend: Annotated[ElicitationResult[Spend], Resolve(asking(_prepare))],
    runs: Runs = 10,
    drop: Drops = [],  # noqa: B006 - never changed
    replace: Replace = None,
    system: System = None,
    add_system: AddSystem = None,
    model: OtherModel = None,
    max_calls: MaxCalls = None,
) -> Annotated[CallToolResult, RerunAnswer]:
    """Rerun a recorded decision, changed or not, and count what the model does.

    Runs no tool. One model call each; slices as in why.
    """
    return await answered(ctx, prepared, max_calls, spend, rerun_answer)


TOOL = published(rerun, title="Rerun a decision", read_only=False, idempotent=True, open_world=True)
