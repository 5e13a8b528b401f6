"""Record an agent, find what made it take a bad decision, and keep the decision fixed.

Recording and reading load nothing heavy. The verbs that ask a model are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import RecordedToolError, ReplayDiverged

# Imported here, not on first use: the name of this function is also the name of a package below, and a later import
# of that package would put it in the place of the function.
from .record.recorder import Recorder, record
from .trace.trace import Trace

if TYPE_CHECKING:
    from . import aio
    from .ops.regression import write_test
    from .ops.verbs import fix, rerun, why
    from .playback.player import Replayer, replay

__all__ = [
    "RecordedToolError",
    "Recorder",
    "ReplayDiverged",
    "Replayer",
    "Trace",
    "aio",
    "fix",
    "load",
    "record",
    "replay",
    "rerun",
    "why",
    "write_test",
]

_LAZY = {
    "Replayer": "playback.player",
    "aio": "aio",
    "fix": "ops.verbs",
    "replay": "playback.player",
    "rerun": "ops.verbs",
    "why": "ops.verbs",
    "write_test": "ops.regression",
}

load = Trace.load


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # needed only here

    module = import_module(f".{_LAZY[name]}", __name__)
    value = module if name == "aio" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
