"""The verbs as coroutines, for code that runs an event loop."""

from __future__ import annotations

from .ops.explain import why
from .ops.repair import fix
from .ops.rerunning import rerun

__all__ = ["fix", "rerun", "why"]
