"""Every error this project raises on purpose.

RuntapeError
├── BadInput                  what was asked for cannot be done as asked
│   ├── TraceNotFound
│   ├── TraceUnreadable
│   ├── EventNotFound
│   ├── NotADecision          the event holds no model reply to explain
│   ├── BrokenRequest         a recorded request that cannot be put together again
│   ├── EditChangesNothing
│   ├── BadModel              no model, or a model function that cannot be loaded
│   ├── EndpointNotAllowed    a recorded address that the user did not name
│   └── PathRefused           a file that must not be written there
├── ReplayDiverged            the agent did something that is not in the record
├── RecordedToolError         a tool failed when it was recorded, with an error that is no other class here
├── BudgetSpent
└── ModelFailed               the model's server or the model function failed

Messages say what happened, to which thing, and what to do next.
"""

from __future__ import annotations

KEPT = "replies in the cache are not paid for again; without a cache all are."
"""What becomes of the replies of something that ended early."""


class RuntapeError(Exception):
    """Base of every deliberate error; its text is meant for the user."""


class BadInput(RuntapeError):
    """Raised when what was asked for cannot be done as asked."""


class TraceNotFound(BadInput):
    """Raised when no trace has the given name or path."""


class TraceUnreadable(BadInput):
    """Raised when a file holds no readable event."""


class EventNotFound(BadInput):
    """Raised when a trace has no event of the given number or tool."""


class NotADecision(BadInput):
    """Raised when an event cannot be tied to a recorded model reply."""


class BrokenRequest(BadInput):
    """Raised when a recorded request builds on one that is missing or circular, or is of the wrong shape."""


class EditChangesNothing(BadInput):
    """Raised when an edit leaves the request as it was."""


class BadModel(BadInput):
    """Raised when no model can be resolved for the rerun."""


class EndpointNotAllowed(BadInput):
    """Raised when a recorded address would receive a request that the user did not allow."""


class PathRefused(BadInput):
    """Raised when a file must not be written at the given path."""


class ReplayDiverged(RuntapeError):
    """Raised at the end of a replay in which the agent made a model or tool call that is not in the record."""


class RecordedToolError(RuntapeError):
    """Raised by a replayed tool that failed when it was recorded; the text names the error's type."""


class BudgetSpent(RuntapeError):
    """Raised when a model call would exceed the budget; nothing was sent for it."""


class ModelFailed(RuntapeError):
    """Raised when the model's server, or the model function, cannot give an answer."""
