"""Functions that record their calls: sync, async, generators of both kinds, methods, partials, callable objects."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, Literal

from .arguments import binder
from .run import Run
from .tool_run import ToolRun

Kind = Literal["plain", "coroutine", "generator", "async generator"]

Begin = Callable[[tuple[Any, ...], "dict[str, Any]"], "ToolRun | None"]


def recorded(tool: Any, run: Run, name: str | None = None) -> Any:
    """A function of the same kind as `tool` that does the same and records it.

    Same kind, so that a framework that asks whether its tool is a coroutine or a generator gets the same answer. Once
    the recording has ended it only calls through.
    """
    if isinstance(tool, staticmethod):
        return staticmethod(recorded(function_of(tool), run, name))
    if isinstance(tool, classmethod):
        return classmethod(recorded(function_of(tool), run, name))
    title = name or name_of(tool)
    bind = binder(tool)

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> ToolRun | None:
        with run.guard:
            return ToolRun(run, title, bind(args, kwargs)) if run.active else None
        return None

    wrapper = _WRAPPERS[kind_of(tool)](tool, begin)
    updated = ("__dict__",) if inspect.isroutine(tool) else ()  # the fields of a callable object are not the function's
    return functools.update_wrapper(wrapper, tool, updated=updated)


def kind_of(tool: Any) -> Kind:
    """Which kind of function `tool` is, or has as its `__call__`."""
    seen = (tool, _call_of(tool))
    if any(inspect.isasyncgenfunction(function) for function in seen):
        return "async generator"
    if any(inspect.iscoroutinefunction(function) for function in seen):
        return "coroutine"
    if any(inspect.isgeneratorfunction(function) for function in seen):
        return "generator"
    return "plain"


def _plain(tool: Any, begin: Begin) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        tool_run = begin(args, kwargs)
        if tool_run is None:
            return tool(*args, **kwargs)
        try:
            value = tool(*args, **kwargs)
        except BaseException as error:
            tool_run.raised(error)
            raise
        tool_run.returned(value)
        return value

    return wrapper


def _coroutine(tool: Any, begin: Begin) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        tool_run = begin(args, kwargs)
        if tool_run is None:
            return await tool(*args, **kwargs)
        try:
            value = await tool(*args, **kwargs)
        except BaseException as error:
            tool_run.raised(error)
            raise
        tool_run.returned(value)
        return value

    return wrapper


def _generator(tool: Any, begin: Begin) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        tool_run = begin(args, kwargs)
        if tool_run is None:
            untouched: Generator[Any, Any, Any] = tool(*args, **kwargs)
            return (yield from untouched)
        try:
            value = yield from _Noting(tool(*args, **kwargs), tool_run)
        except GeneratorExit:
            tool_run.closed()
            raise
        except BaseException as error:
            tool_run.raised(error)
            raise
        tool_run.exhausted(value)
        return value

    return wrapper


class _Noting(Generator[Any, Any, Any]):
    """A generator seen from outside, with each item noted as it passes; `yield from` hands on what the caller sends."""

    def __init__(self, inner: Generator[Any, Any, Any], tool_run: ToolRun) -> None:
        self._inner = inner
        self._tool_run = tool_run

    def send(self, value: Any) -> Any:
        return self._noted(self._inner.send(value))

    def throw(self, *error: Any) -> Any:
        return self._noted(self._inner.throw(*error))

    def close(self) -> None:
        self._inner.close()

    def _noted(self, item: Any) -> Any:
        self._tool_run.item(item)
        return item


def _async_generator(tool: Any, begin: Begin) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        tool_run = begin(args, kwargs)
        inner: AsyncGenerator[Any, Any] = tool(*args, **kwargs)
        try:
            # There is no `yield from` for asynchronous generators: what it would do, step by step (PEP 380).
            step = inner.__anext__()
            while True:
                item = await step
                if tool_run is not None:
                    tool_run.item(item)
                try:
                    sent = yield item
                except GeneratorExit:
                    await inner.aclose()
                    raise
                except BaseException as error:  # noqa: BLE001 -- whatever the caller throws in goes to the tool
                    step = inner.athrow(error)
                else:
                    step = inner.__anext__() if sent is None else inner.asend(sent)
        except StopAsyncIteration:
            if tool_run is not None:
                tool_run.exhausted(None)
        except GeneratorExit:
            if tool_run is not None:
                tool_run.closed()
            raise
        except BaseException as error:
            if tool_run is not None:
                tool_run.raised(error)
            raise

    return wrapper


def _call_of(tool: object) -> Any:
    return getattr(type(tool), "__call__", None)  # noqa: B004 -- its kind is asked for, not whether it exists


def function_of(method: Any) -> Any:
    """The function in a `staticmethod` or `classmethod`."""
    return method.__func__


def name_of(tool: Any) -> str:
    """What a model would call it."""
    while isinstance(tool, functools.partial):
        tool = tool.func
    return getattr(tool, "__name__", None) or type(tool).__name__


_WRAPPERS: dict[Kind, Callable[[Any, Begin], Callable[..., Any]]] = {
    "plain": _plain,
    "coroutine": _coroutine,
    "generator": _generator,
    "async generator": _async_generator,
}
