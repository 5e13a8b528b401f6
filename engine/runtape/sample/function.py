"""A Python function as a model: for agents that reach their model in a way of their own, and for tests."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, TypeAlias

import anyio
import anyio.lowlevel

from ..jsonable import jsonable
from ..said import Said
from ..text import shorten, visible
from ..wire.values import Request
from . import attempts
from .fingerprint import fingerprint, name_of
from .model import DEADLINE, Answer, Unanswered
from .shapes import WANTED, BadShape, as_dict, as_reply
from .thread import Raised, in_thread

Answering: TypeAlias = Callable[[dict[str, Any]], object]
"""Takes the request as a dict and returns a reply in one of the shapes of `shapes`; sync or async."""

SPARE = 0.5
"""Seconds beyond the slowest call so far that a call on its way is waited for when the rerun is cancelled."""

NAME_IT = "Name it as module:function or path/to/file.py:function to reuse them later"


class FunctionModel:
    """Answers with what `function` returns; sync functions run in a thread each."""

    def __init__(
        self,
        function: Answering,
        name: str | None = None,
        module: ModuleType | None = None,
        *,
        deadline: float = DEADLINE,
    ) -> None:
        """`name` and `module`: how the user named the function."""
        self.name = name or name_of(function)
        made = fingerprint(function, module)
        self.identity = f"function {self.name} {made.text}"
        self.max_n = 1
        self._function = function
        self._deadline = deadline
        self._slowest = 0.0
        """Seconds that the slowest call so far took."""
        self._note: Said | None = None
        if made.opaque is not None:
            self._note = Said(
                f"the model function {self.name!r} carries a {made.opaque}, whose state cannot be compared: its "
                f"replies are reused in this process only. {NAME_IT}"
            )

    async def sample(self, request: Request, n: int) -> Sequence[Answer]:  # noqa: ARG002 - one call is one sample
        """See `Model.sample`."""
        if self._note is not None:
            attempts.current.get().note(self._note)
        value: object = None
        try:
            with anyio.move_on_after(self._deadline) as in_time:
                value = await self._call(as_dict(request))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - see below
            # The user's code raises what it likes: SystemExit, or the cancellation of a task of its own. Only a
            # cancellation of this very task passes.
            if isinstance(error, anyio.get_cancelled_exc_class()):
                await anyio.lowlevel.checkpoint_if_cancelled()
            raise self._failed(f"raised {_told(error)}") from None
        if in_time.cancelled_caught:
            raise self._failed(f"did not return within {self._deadline:g} s")
        try:
            return [Answer(as_reply(value), jsonable(value))]
        except BadShape as error:
            return [Answer(None, jsonable(value), f"the model function {self.name!r} returned {error}: {WANTED}")]

    async def aclose(self) -> None:
        """Nothing to close."""

    def _failed(self, how: str) -> Unanswered:
        return Unanswered(
            f"the model function {self.name!r} {how}. Mend it, then ask again: what it answered before is kept"
        )

    async def _call(self, asked: dict[str, Any]) -> object:
        started = time.monotonic()
        if inspect.iscoroutinefunction(self._function):
            value: object = self._function(asked)
        else:
            ended = await in_thread(self._function, asked, lambda: self._slowest + SPARE)
            if isinstance(ended, Raised):
                raise ended.error
            value = ended.value
        if inspect.isawaitable(value):
            value = await value
        self._slowest = max(self._slowest, time.monotonic() - started)
        return value


def _told(error: BaseException) -> str:
    try:
        said = str(error)
    except Exception:  # noqa: BLE001 - the user's exception class may be broken as well
        said = ""
    return type(error).__name__ + (f": {visible(shorten(said, 500))}" if said else "")
