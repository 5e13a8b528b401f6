"""The tool `rerun`."""

# ruff: noqa: ARG001, PLR0917 - the client and the resolvers pass arguments by name

from typing import Annotated

from mcp.server.mcpserver import Context, Elicit, ElicitationResult, Resolve
from mcp.types import CallToolResult
from pydantic import Field

from ..answers import rerun_answer, result
from ..attend import Prepared, ask_user, attend, next_for, prepare
from ..consent import Spend
from ..fence import Fence
from ..pages import page_of
from ..prose import prose
from ..schemas import EventRef, MaxCalls, Replace, RerunAnswer, TraceName
from ..state import State
from ..tool import published
from ..verbs import Decision, RerunQuestion

Runs = Annotated[int, Field(description="Reruns that count", ge=1, le=100)]
Drops = Annotated[list[str], Field(description="Refs to leave out", max_length=50)]
System = Annotated[str | None, Field(description="Whole system prompt")]
AddSystem = Annotated[str | None, Field(description="Append to system prompt")]
OtherModel = Annotated[str | None, Field(description="Another model of the same API")]


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
    question = RerunQuestion(decision, runs, tuple(drop), replace, system, add_system, model)
    return await prepare(state, "rerun", question)


def _ask(
    ctx: Context[State], prepared: Annotated[Prepared, Resolve(_prepare)], max_calls: int | None
) -> Elicit[Spend] | Spend:
    return ask_user(ctx, prepared, max_calls)


async def rerun(
    ctx: Context[State],
    trace: TraceName,
    event: EventRef,
    prepared: Annotated[Prepared, Resolve(_prepare)],
    spend: Annotated[ElicitationResult[Spend], Resolve(_ask)],
    runs: Runs = 10,
    drop: Drops = [],  # noqa: B006 - never changed
    replace: Replace = None,
    system: System = None,
    add_system: AddSystem = None,
    model: OtherModel = None,
    max_calls: MaxCalls = None,
) -> Annotated[CallToolResult, RerunAnswer]:
    """Ask the model again at a recorded decision, with or without a change, and count what it does.

    Runs no tool. One model call a rerun; slices as in why.
    """
    job = await attend(ctx, prepared, max_calls, spend)
    fence = Fence()
    step = next_for(ctx, job, fence, max_calls)
    return result(rerun_answer(job, fence, step), prose(job, page_of(job), fence, step))


TOOL = published(rerun, title="Rerun a decision", read_only=False, idempotent=True, open_world=True)
