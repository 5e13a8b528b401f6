"""Record an agent, find what made it take a bad decision, and keep the decision fixed.

Every name is loaded when it is first used, so that nobody waits for what is not asked for.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import aio
    from .errors import RecordedToolError, ReplayDiverged
    from .ops.regression import write_test
    from .ops.waiting import fix, rerun, why
    from .playback.player import Replayer, replay
    from .record.recorder import Recorder, record
    from .trace.trace import Trace

    load = Trace.load

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
    "RecordedToolError": "errors",
    "Recorder": "record.recorder",
    "ReplayDiverged": "errors",
    "Replayer": "playback.player",
    "Trace": "trace.trace",
    "aio": "aio",
    "fix": "ops.waiting",
    "load": "trace.trace",
    "record": "record.recorder",
    "replay": "playback.player",
    "rerun": "ops.waiting",
    "why": "ops.waiting",
    "write_test": "ops.regression",
}


class _Package(ModuleType):
    def __setattr__(self, name: str, value: object) -> None:
        # `record` is a function here and also a package below, which the import system would put in its place.
        if name != "record" or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # needed only here

    module = import_module(f".{_LAZY[name]}", __name__)
    match name:
        case "aio":
            value = module
        case "load":
            value = module.Trace.load
        case _:
            value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


if os.environ.get("RUNTAPE_IN_REPLAY"):
    from .playback import elsewhere  # a replay is going on in the process that started this one

    elsewhere.begin()
