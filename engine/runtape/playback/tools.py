"""Functions that give recorded results in place of running."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from dataclasses import dataclass
from typing import Any

from ..errors import RecordedToolError
from ..record.arguments import binder
from ..record.stand_in import Kind, Make, kind_of, stand_in
from ..wire.values import Json
from .restoring import restored, returned_type
from .tool_runs import RecordedRun

Take = Callable[[str, "dict[str, Any]"], "RecordedRun | None"]
"""From a tool's name and arguments to its recorded run; None where the tool is to be run."""


def played(tool: Any, take: Take, name: str | None = None) -> Any:
    """What looks like `tool` and gives its recorded results; `tool` itself is not run.

    Raises:
        TypeError: nothing can stand in for it.
    """
    return stand_in(tool, playing(take), name)


def playing(take: Take) -> Make:
    """What makes the functions that give recorded results."""

    def make(tool: Any, title: str, *, is_method: bool) -> Callable[..., Any]:
        bind = binder(tool, is_method=is_method)

        def outcome(args: tuple[Any, ...], kwargs: dict[str, Any]) -> _PlayedRun | None:
            run = take(title, bind(args, kwargs))
            return None if run is None else _PlayedRun(tool, run)

        return _WRAPPERS[kind_of(tool)](tool, outcome)

    return make


@dataclass(frozen=True, slots=True)
class _PlayedRun:
    """What a recorded run came to."""

    tool: Any
    run: RecordedRun

    def value(self) -> Any:
        """What it returned; raises what it raised."""
        self._raise()
        return restored(self._payload().get("result"), returned_type(self.tool, items=False))

    def items(self) -> Generator[Any, None, Any]:
        """What its generator gave, one by one; raises what it raised."""
        result = self._payload().get("result")
        type_ = returned_type(self.tool, items=True)
        for item in result if isinstance(result, list) else ():
            yield restored(item, type_)
        self._raise()
        return restored(self._payload().get("returned"), Any)

    def _payload(self) -> dict[str, Json]:
        return {} if self.run.result is None else self.run.result.payload

    def _raise(self) -> None:
        error = self._payload().get("error")
        if isinstance(error, dict):
            raise _exception(self.tool, str(error.get("type")), str(error.get("message")))


def _exception(tool: Any, type_: str, message: str) -> Exception:
    """An exception of that name which Python or the tool's module knows, else one that names it."""
    known = getattr(builtins, type_, None) or getattr(inspect.unwrap(tool), "__globals__", {}).get(type_)
    if isinstance(known, type) and issubclass(known, Exception):
        try:
            # A KeyError shows its key quoted; quoted again it would be another key.
            made = known(message[1:-1] if known is KeyError else message)
        except Exception:  # noqa: BLE001 -- a class that wants other arguments
            return RecordedToolError(f"{type_}: {message}")
        return made
    return RecordedToolError(f"{type_}: {message}")


_FindRun = Callable[[tuple[Any, ...], "dict[str, Any]"], "_PlayedRun | None"]


def _plain(tool: Any, outcome: _FindRun) -> Any:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        found = outcome(args, kwargs)
        return tool(*args, **kwargs) if found is None else found.value()

    return wrapper


def _coroutine(tool: Any, outcome: _FindRun) -> Any:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        found = outcome(args, kwargs)
        return await tool(*args, **kwargs) if found is None else found.value()

    return wrapper


def _generator(tool: Any, outcome: _FindRun) -> Any:
    def wrapper(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        found = outcome(args, kwargs)
        inner: Generator[Any, Any, Any] = tool(*args, **kwargs) if found is None else found.items()
        return (yield from inner)

    return wrapper


def _async_generator(tool: Any, outcome: _FindRun) -> Any:
    async def wrapper(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        found = outcome(args, kwargs)
        if found is not None:
            for item in found.items():
                yield item
            return
        async for item in tool(*args, **kwargs):
            yield item

    return wrapper


_WRAPPERS: dict[Kind, Callable[[Any, _FindRun], Callable[..., Any]]] = {
    "plain": _plain,
    "coroutine": _coroutine,
    "generator": _generator,
    "async generator": _async_generator,
}
