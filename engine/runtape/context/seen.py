"""The context of a recorded decision."""

from __future__ import annotations

from ..trace.chain import whole
from ..trace.refs import Moment
from ..trace.trace import Trace
from .build import build
from .pieces import Context


def seen(trace: Trace, moment: Moment) -> Context:
    """What the model saw, in pieces.

    Raises:
        BrokenRequest: a part of it is in no recorded call.
    """
    sent = whole(trace, moment)
    return build(sent.request, sent.origins)
