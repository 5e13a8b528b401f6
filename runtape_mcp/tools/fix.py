"""The tool `fix`."""

# ruff: noqa: ARG001, PLR0917 - the client and the resolvers pass arguments by name

from typing import Annotated

from mcp.server.mcpserver import Context, Elicit, ElicitationResult, Resolve
from mcp.types import CallToolResult
from pydantic import Field

from ..answers import fix_answer, result
from ..attend import Prepared, ask_user, attend, next_for, prepare
from ..consent import Spend
from ..fence import Fence
from ..pages import page_of
from ..prose import prose
from ..schemas import CandidateInput, EventRef, ExactArgs, FixAnswer, Match, MaxCalls, Tool, TraceName
from ..state import State
from ..tool import published
from ..verbs import Decision, FixQuestion

Candidates = Annotated[list[CandidateInput], Field(description="Your own changes, one kind each", max_length=10)]
Controls = Annotated[
    list[str],
    Field(description="Decisions to keep: 'EVENT' or 'TRACE:EVENT'", max_length=10),
]


async def _prepare(
    ctx: Context[State],
    trace: str,
    event: int | str,
    tool: str | None,
    match: str | None,
    exact_args: bool,  # noqa: FBT001 - filled by name
    candidates: list[CandidateInput],
    controls: list[str],
) -> Prepared:
    state = ctx.request_context.lifespan_context
    path = await state.library.find(trace)
    given = tuple(candidate.model_dump(exclude_none=True) for candidate in candidates)
    kept = tuple([await state.library.reference(control, path) for control in controls])
    return await prepare(state, "fix", FixQuestion(Decision(path, event, tool, match, exact_args), given, kept))


def _ask(
    ctx: Context[State], prepared: Annotated[Prepared, Resolve(_prepare)], max_calls: int | None
) -> Elicit[Spend] | Spend:
    return ask_user(ctx, prepared, max_calls)


async def fix(
    ctx: Context[State],
    trace: TraceName,
    event: EventRef,
    prepared: Annotated[Prepared, Resolve(_prepare)],
    spend: Annotated[ElicitationResult[Spend], Resolve(_ask)],
    tool: Tool = None,
    match: Match = None,
    exact_args: ExactArgs = False,  # noqa: FBT002 - filled by name
    candidates: Candidates = [],  # noqa: B006 - never changed
    controls: Controls = [],  # noqa: B006 - never changed
    max_calls: MaxCalls = None,
) -> Annotated[CallToolResult, FixAnswer]:
    """Measure changes on the context that failed: prompt rules, the source removed, your own candidates.

    Runs why first; costs and slices as in why; changes no file. Then call write_test.
    """
    job = await attend(ctx, prepared, max_calls, spend)
    fence = Fence()
    step = next_for(ctx, job, fence, max_calls)
    return result(fix_answer(job, fence, step), prose(job, page_of(job), fence, step))


TOOL = published(fix, title="Measure fixes", read_only=False, idempotent=True, open_world=True)
