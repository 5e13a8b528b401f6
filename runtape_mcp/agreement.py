"""What happens before a tool that costs runs: which job is asked for, and whether the user has to agree first."""

# Annotations are read by the SDK when a tool is made, so they have to be values here, not texts.

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeAlias

from mcp.server.mcpserver import Context, Elicit, Resolve

from . import consent
from .attend import Prepared
from .consent import Spend
from .state import State

Prepare: TypeAlias = Callable[..., Awaitable[Prepared]]
"""Takes arguments of the tool by name, and the context as `ctx`."""


def asking(prepare: Prepare) -> Callable[..., Any]:
    """The resolver that puts the question to the user before a tool runs whose job `prepare` makes."""

    def ask(
        ctx: Context[State], prepared: Annotated[Prepared, Resolve(prepare)], max_calls: int | None
    ) -> Elicit[Spend] | Spend:
        state = ctx.request_context.lifespan_context
        job = state.jobs.find(prepared.id)
        if job is not None and consent.wants_more(job, max_calls, state.settings) and consent.can_ask(ctx):
            return consent.question(job, max_calls, state.settings)
        return Spend(go_on=False)

    return ask
