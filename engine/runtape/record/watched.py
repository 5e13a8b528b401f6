"""What the HTTP seam has recorded since somebody began to watch, in this thread or task and what it starts."""

from __future__ import annotations

from contextvars import ContextVar


class Watched:
    """Counts for one watcher."""

    __slots__ = ("model_calls", "tool")

    def __init__(self, tool: str | None = None) -> None:
        self.model_calls = 0
        """Model calls that were recorded on their way through an HTTP client."""
        self.tool = tool
        """The tool whose run is being recorded by the watcher; None once it has ended."""


watched: ContextVar[Watched | None] = ContextVar("runtape_watched", default=None)
