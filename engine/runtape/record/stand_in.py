"""Callables that stand in for tools: a program or framework that looks at one finds what it would have found.

Is it a coroutine function, what is its signature, which attributes has it: the answers are those of the tool itself.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, Literal, Protocol, cast

from .lookalike import like_function, like_object

Kind = Literal["plain", "coroutine", "generator", "async generator"]


class Make(Protocol):
    """Makes the function that is called in place of a tool; of the tool's own kind."""

    def __call__(self, tool: Any, title: str, *, is_method: bool) -> Callable[..., Any]:
        """`title` is what a model calls the tool; the first argument of a method is its object."""
        ...


def stand_in(tool: Any, make: Make, name: str | None = None) -> Any:
    """What looks like `tool` and calls what `make` gives; `name` where a model calls the tool by another.

    Raises:
        TypeError: nothing can stand in for it: a class whose instances are not called, or no callable.
    """
    kind: Any = cast("object", type(tool))
    again: Any = kind
    if issubclass(kind, (staticmethod, classmethod)):
        return _with_fields(again(stand_in(_function_of(tool), make, name)), tool)
    if issubclass(kind, property):
        getter = None if tool.fget is None else stand_in(tool.fget, make, name)
        return again(getter, tool.fset, tool.fdel, tool.__doc__)
    if issubclass(kind, type):
        return _class_of_tools(tool, make, name)
    if not callable(tool):
        raise TypeError(f"a {kind.__name__} cannot be called")
    if isinstance(tool, MethodType):
        function = tool.__func__
        return MethodType(_one(function, make, name, is_method=True), tool.__self__)
    return _one(tool, make, name)


def _one(tool: Any, make: Make, name: str | None, *, is_method: bool = False) -> Any:
    made = make(tool, name or _name_of(tool), is_method=is_method)
    return like_function(made, tool) if isinstance(tool, FunctionType) else like_object(made, tool)


def _class_of_tools(kind: Any, make: Make, name: str | None) -> Any:
    """The same class; calling its instances goes the other way. Another class would break `isinstance` and pickles."""
    owner = next((base for base in kind.__mro__ if "__call__" in vars(base)), None)
    if owner is None:
        raise TypeError("it is a class whose instances cannot be called; decorate the method that does the work")
    kind.__call__ = _one(vars(owner)["__call__"], make, name or kind.__name__, is_method=True)
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


def _call_of(tool: object) -> Any:
    return getattr(type(tool), "__call__", None)  # noqa: B004 -- its kind is asked for, not whether it exists


def _function_of(method: Any) -> Any:
    """The function in a `staticmethod` or `classmethod`."""
    return method.__func__


def _name_of(tool: Any) -> str:
    """What a model would call it."""
    while isinstance(tool, functools.partial):
        tool = tool.func
    return getattr(tool, "__name__", None) or type(tool).__name__
