"""Functions that record their calls: sync, async, generators of both kinds, methods, partials, callable objects."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from types import FunctionType, MethodType
from typing import Any, Literal, cast

from .arguments import binder
from .lookalike import like_function, like_object
from .run import Run
from .tool_run import ToolRun

Kind = Literal["plain", "coroutine", "generator", "async generator"]

Begin = Callable[[tuple[Any, ...], "dict[str, Any]"], "ToolRun | None"]


def recorded(tool: Any, run: Run, name: str | None = None) -> Any:
    """A callable of the same kind as `tool` that does the same and records it.

    Same kind, so that a program or framework that looks at its tool (is it a coroutine, what is its signature, which
    attributes has it) finds what it would have found. Once the recording has ended it only calls through.

    Raises:
        TypeError: it cannot be recorded: a class whose instances are not called, or no callable.
    """
    kind: Any = cast("object", type(tool))
    again: Any = kind
    if issubclass(kind, (staticmethod, classmethod)):
        return _with_fields(again(recorded(function_of(tool), run, name)), tool)
    if issubclass(kind, property):
        getter = None if tool.fget is None else recorded(tool.fget, run, name)
        return again(getter, tool.fset, tool.fdel, tool.__doc__)
    if issubclass(kind, type):
        return _class_of_tools(tool, run, name)
    if not callable(tool):
        raise TypeError(f"a {kind.__name__} cannot be called")
    if isinstance(tool, MethodType):
        function = tool.__func__
        return MethodType(_stand_in(function, run, name, is_method=True), tool.__self__)
    return _stand_in(tool, run, name)


def _stand_in(tool: Any, run: Run, name: str | None, *, is_method: bool = False) -> Any:
    title = name or name_of(tool)
    bind = binder(tool, is_method=is_method)

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> ToolRun | None:
        with run.guard:
            return ToolRun(run, title, bind(args, kwargs)) if run.active else None
        return None

    wrapper = _WRAPPERS[kind_of(tool)](tool, begin)
    return like_function(wrapper, tool) if isinstance(tool, FunctionType) else like_object(wrapper, tool)


def _class_of_tools(kind: Any, run: Run, name: str | None) -> Any:
    """The same class; calling its instances is recorded. Another class would break `isinstance`, bases and pickles."""
    owner = next((base for base in kind.__mro__ if "__call__" in vars(base)), None)
    if owner is None:
        raise TypeError("it is a class whose instances cannot be called; decorate the method that does the work")
    kind.__call__ = _stand_in(vars(owner)["__call__"], run, name or kind.__name__, is_method=True)
    return kind


def _with_fields(shown: object, tool: object) -> object:
    fields: dict[str, Any] = vars(tool)
    for key, value in fields.items():
        if key not in vars(shown) or not key.startswith("__"):
            setattr(shown, key, value)
    return shown


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
