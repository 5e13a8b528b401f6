"""Reports that know how the library was called, so that they can spell the next call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from ..report.python_call import PythonCall, source_of
from ..report.results import FixReport, WhyReport

P = ParamSpec("P")
R = TypeVar("R", WhyReport, FixReport)

_SAID_APART = frozenset({"trace", "event", "on_progress"})


def knows_its_call(verb: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, Coroutine[Any, Any, R]]:
    """The same verb; its report holds the arguments that were not left out."""
    signature = inspect.signature(verb)

    @wraps(verb)
    async def call(*args: P.args, **kwargs: P.kwargs) -> R:
        report = await verb(*args, **kwargs)
        given = {
            name: source_of(name, value)
            for name, value in signature.bind(*args, **kwargs).arguments.items()
            if name not in _SAID_APART and value is not signature.parameters[name].default
        }
        return replace(report, call=PythonCall(verb.__name__, given))

    return call
