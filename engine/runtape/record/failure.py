"""An exception of the program as a trace keeps it."""

from __future__ import annotations

import traceback

from ..jsonable import jsonable
from ..wire.values import JsonObject
from .guard import said

FRAMES = 20
"""Innermost frames kept: enough to find the place, bounded for a recursion that went too deep."""

TEXT = 4000
"""Characters kept of a message."""


def failure(error: object, *, frames: bool = True) -> JsonObject:
    """`{type, message, traceback}`; never raises, whatever the exception does when it is looked at.

    What is no exception is told by its text.

    `frames` is False where the stack is the SDK's own and tells nothing about the program.
    """
    if not isinstance(error, BaseException):
        kept = jsonable(error)
        return {"type": type(error).__name__, "message": (kept if isinstance(kept, str) else str(kept))[:TEXT]}
    found: JsonObject = {"type": type(error).__name__, "message": said(error)[:TEXT]}
    if frames and error.__traceback__ is not None:
        found["traceback"] = "".join(traceback.format_tb(error.__traceback__, limit=-FRAMES))
    return found
