"""The verbs as coroutines, for code that runs an event loop."""

from __future__ import annotations

from .ops.verbs import fix, rerun, why

__all__ = ["fix", "rerun", "why"]
