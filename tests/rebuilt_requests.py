"""Recorded requests as they were sent."""

from __future__ import annotations

from collections.abc import Iterable

from runtape.trace.delta import Expander, Listed
from runtape.trace.events import Event
from runtape.wire.values import Parts


def expand(events: Iterable[Event], request: int) -> Parts:
    """The body of one recorded request, taken apart."""
    return Expander(Listed(events)).parts(request)
