"""The context of a recorded decision."""

from __future__ import annotations

from ..trace.chain import whole
from ..trace.origins import Known
from ..trace.refs import Moment
from ..trace.trace import Trace
from .build import build
from .pieces import Context
from .spans import Tree


def seen(trace: Trace, moment: Moment) -> Context:
    """What the model saw, in pieces.

    Raises:
        BrokenRequest: a part of it is in no recorded call.
    """
    return Contexts(trace).at(moment)


class Contexts:
    """The contexts of one run, one after another; what they share is worked out once."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._known = Known(trace)
        self._trees: dict[str, Tree] = {}

    def at(self, moment: Moment) -> Context:
        """As `seen` gives it, and raises."""
        sent = whole(self._trace, moment, self._known)
        return build(sent.request, sent.origins, self._trees)
