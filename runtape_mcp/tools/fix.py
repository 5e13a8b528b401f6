"""The tool `fix`."""

# ruff: noqa: ARG001, PLR0917 - the client and the resolvers pass arguments by name

from typing import Annotated

from mcp.server.mcpserver import Context, ElicitationResult, Resolve
from mcp.types import CallToolResult
from pydantic import Field

from ..agreement import asking
from ..answers import fix_answer
from ..attend import Prepared, answered, prepare
from ..consent import Spend
from ..schemas import CandidateInput, EventRef, FixAnswer, MaxCalls, SameFlag, SameText, SameTexts, TraceName
from ..state import State
from ..tool import published
from ..verbs import Decision, FixQuestion

Candidates = Annotated[list[CandidateInput], Field(description="Own changes, one kind each", max_length=10)]
Controls = Annotated[
    list[str],
    Field(description="Decisions to keep: 'EVENT' or 'TRACE:EVENT'", max_length=10),
]
Variants = Annotated[list[str], Field(description="The cause in other words", max_length=10)]


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
    candidates: list[CandidateInput],
    controls: list[str],
    variants: list[str],
) -> Prepared:
    state = ctx.request_context.lifespan_context
    path = await state.library.find(trace)
    given = tuple(candidate.model_dump(exclude_none=True) for candidate in candidates)
    kept = tuple([await state.library.reference(control, path) for control in controls])
    return await prepare(
        state,
        "fix",
        FixQuestion(
            Decision(path, event, tool, match, exact_args, tuple(args), where, judge), given, kept, tuple(variants)
        ),
    )


async def fix(
    ctx: Context[State],
    trace: TraceName,
    event: EventRef,
    prepared: Annotated[Prepared, Resolve(_prepare)],
    spend: Annotated[ElicitationResult[Spend], Resolve(asking(_prepare))],
    tool: SameText = None,
    match: SameText = None,
    exact_args: SameFlag = False,  # noqa: FBT002 - filled by name
    args: SameTexts = [],  # noqa: B006 - never changed
    where: SameText = None,
    judge: SameText = None,
    candidates: Candidates = [],  # noqa: B006 - never changed
    controls: Controls = [],  # noqa: B006 - never changed
    variants: Variants = [],  # noqa: B006 - never changed
    max_calls: MaxCalls = None,
) -> Annotated[CallToolResult, FixAnswer]:
    """Measure changes where the agent failed: prompt rules, source removed, your own.

    Runs why first; costs and slices as there. Then call write_test.
    """
    return await answered(ctx, prepared, max_calls, spend, fix_answer)


TOOL = published(fix, title="Measure fixes", read_only=False, idempotent=True, open_world=True)
