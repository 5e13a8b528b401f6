"""Errors in words for a coding assistant.

The engine's texts quote traces, files and answers of servers. What to do next is said in words of ours, by the kind of
the error; the engine's own text follows inside a fence.
"""

from __future__ import annotations

from runtape.errors import (
    BadModel,
    BudgetSpent,
    EditChangesNothing,
    EndpointNotAllowed,
    EventNotFound,
    ModelFailed,
    NotADecision,
    PathRefused,
    RuntapeError,
    TraceNotFound,
    TraceUnreadable,
)

from .fence import Fence

LIMIT = 950
"""Characters of an error text; clients cut long ones."""
_DETAIL = 420

_NEXT: dict[type[RuntapeError], str] = {
    TraceNotFound: "There is no trace of that name. Call list_traces for the names.",
    TraceUnreadable: "That file holds no readable event. Call list_traces and choose another trace.",
    EventNotFound: (
        "That trace has no such event or tool call. Call show_event with the trace alone for its timeline, then name "
        "an event number from it."
    ),
    NotADecision: (
        "That event is not a decision of the kind asked for. Call show_event with the trace alone, then name a "
        "model's answer or a tool call, or leave out tool and match."
    ),
    EditChangesNothing: (
        "A change leaves the request as it was, so nothing was sent. Take refs from why, or text from show_event "
        "with view context, exactly as they stand there."
    ),
    EndpointNotAllowed: (
        "The trace names an address that this server was not launched for, so nothing was sent. Tell the user; if "
        "they trust it they can add --base-url to the launch of runtape-mcp."
    ),
    BadModel: (
        "No model can answer the reruns. Tell the user to launch runtape-mcp with the provider's key in its "
        "environment, or with --model-fn."
    ),
    PathRefused: "Nothing was written. Give a new file test_*.py, relative to the project and inside it.",
    BudgetSpent: (
        "The model calls or the money that were allowed are used up. Call again with a higher max_calls; only the user "
        "can allow more money, with --max-usd at the launch of runtape-mcp."
    ),
    ModelFailed: (
        "The model could not answer. Answers that arrived are kept; when the cause is mended, call again with the "
        "same arguments."
    ),
    RuntapeError: "The call cannot be done as asked. Change the arguments and call again.",
}
"""By the kind of error, the nearest kind above it included."""


def advice(error: RuntapeError) -> str:
    """What to do about an error, in constant words."""
    return next(_NEXT[kind] for kind in type(error).__mro__ if kind in _NEXT)


def told(error: RuntapeError) -> str:
    """The whole text of an error, under `LIMIT` characters."""
    return f"{advice(error)} Details: {Fence().inline(str(error), _DETAIL)}"
