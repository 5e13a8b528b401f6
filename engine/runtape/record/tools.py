"""Functions that record their calls: sync, async, generators of both kinds, methods, partials, callable objects."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

from .arguments import binder
from .playing import substitutable
from .run import Run
from .stand_in import Kind, kind_of, stand_in
from .tool_run import ToolRun
from .watched import watched

Begin = Callable[[tuple[Any, ...], "dict[str, Any]"], "ToolRun | None"]


def recorded(tool: Any, run: Run | None, name: str | None = None) -> Any:
    """A callable of the same kind as `tool` that does the same and records it.

    Without a recording, or once it has ended, it only calls through; in a replay that plays to recorded tools, to it.

    Raises:
        TypeError: it cannot be recorded: a class whose instances are not called, or no callable.
    """

    def recording(tool: Any, title: str, *, is_method: bool) -> Callable[..., Any]:
        bind = binder(tool, is_method=is_method)

        def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> ToolRun | None:
            if run is None:
                return None
            with run.guard:
                watch = watched.get()
                if not run.active or (watch is not None and watch.tool == title):
                    return None  # in the second case a framework reports this very run
                return ToolRun(run, title, bind(args, kwargs))
            return None

        return _WRAPPERS[kind_of(tool)](substitutable(tool, title, is_method=is_method), begin)

    return stand_in(tool, recording, name)


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


_WRAPPERS: dict[Kind, Callable[[Any, Begin], Callable[..., Any]]] = {
    "plain": _plain,
    "coroutine": _coroutine,
    "generator": _generator,
    "async generator": _async_generator,
}
