"""The tool `write_test`."""

# ruff: noqa: PLR0917 - the client passes arguments by name

import shlex
from typing import Annotated

import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult
from pydantic import Field

from ..answers import result
from ..schemas import EventRef, SameText, SameTexts, TraceName, WrittenTest
from ..state import State
from ..tool import published
from ..verbs import Decision, NewTest

TestPath = Annotated[str, Field(description="New test_*.py in the project", min_length=1, max_length=300)]
FixName = Annotated[str | None, Field(description="Candidate of fix")]
AddSystem = Annotated[str | None, Field(description="Or append to system prompt")]
SystemFrom = Annotated[str | None, Field(description="Or module:NAME of the prompt")]
CleanWith = Annotated[str | None, Field(description="Or module:function cleaning results")]
GuardWith = Annotated[str | None, Field(description="Or module:function checking calls")]
Controls = Annotated[list[str], Field(description="As in fix", max_length=10)]


async def write_test(
    ctx: Context[State],
    trace: TraceName,
    event: EventRef,
    path: TestPath,
    fix: FixName = None,
    add_system: AddSystem = None,
    system_from: SystemFrom = None,
    clean_with: CleanWith = None,
    guard_with: GuardWith = None,
    controls: Controls = [],  # noqa: B006 - never changed
    tool: SameText = None,
    match: SameText = None,
    args: SameTexts = [],  # noqa: B006 - never changed
    where: SameText = None,
    judge: SameText = None,
) -> Annotated[CallToolResult, WrittenTest]:
    """Write a pytest file, the trace beside it, that fails when the decision comes back.

    Only new files in the project. Model calls only when it runs: 10, 6 to 40 per control.
    """
    state = ctx.request_context.lifespan_context
    project = state.settings.project
    if project is None:
        raise ToolError(
            "Nothing was written: this launch of runtape-mcp named no project. Ask the user to add --project with the "
            "folder of their project to its arguments, or to set RUNTAPE_PROJECT."
        )
    found = await state.library.find(trace)
    decision = Decision(found, event, tool, match, args=tuple(args), where=where, judge=judge)
    kept = tuple([await state.library.reference(control, found) for control in controls])
    test = NewTest(decision, path, fix, add_system, system_from, clean_with, guard_with, kept)
    written = await anyio.to_thread.run_sync(state.verbs.write_test, test, project)
    relative = written.relative_to(project.resolve()).as_posix()
    later = "Run the command in the project folder, then put the change into the agent itself."
    if system_from is clean_with is guard_with is None:
        later += " This test keeps the change; one with system_from, clean_with or guard_with keeps the agent to it."
    answer = WrittenTest(
        path=relative,
        command=f"python -m pytest {shlex.quote(relative)}",
        next=later,
    )
    return result(answer, f"Wrote {relative}. Run it with: {answer.command}\n\nNext: {answer.next}")


TOOL = published(write_test, title="Write a test", read_only=False, idempotent=False, open_world=False)
