"""Objects that a program cannot tell from the callable behind them, but whose calls go another way.

Functions and bound methods have types of their own that a stand-in can be an instance of. Everything else that can be
called (partials, functions with a cache, built-in functions, objects with `__call__`) gets an object whose class hands
on every attribute and every operator to the callable.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, cast

Call = Callable[..., Any]


def like_function(call: Any, function: Any) -> Any:
    """`call`, a function, with the name, documentation, attributes and signature of `function`."""
    shown: Any = functools.update_wrapper(call, function)
    if "__wrapped__" in vars(function):
        shown.__wrapped__ = vars(function)["__wrapped__"]
    if isinstance(function, FunctionType):
        try:
            shown.__signature__ = inspect.signature(function)
        except Exception:  # noqa: BLE001 -- annotations that cannot be worked out yet; `__wrapped__` leads to them later
            return shown
        # Read by tools that do not ask for a signature. They have no effect on a function of `*args, **kwargs`.
        shown.__defaults__, shown.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return shown


def like_object(call: Call, tool: Any) -> Any:
    """An object that is `tool` in everything but being called, which runs `call`."""
    kind = cast("Any", type(tool))  # a class is hashable, which its type does not say
    return _class_for(kind)(call, tool)


class _Lookalike:
    """What the classes made for each kind of callable share; the double names keep out of the way of theirs."""

    __slots__ = ("__weakref__", "_runtape__call", "_runtape__tool")

    def __init__(self, call: Call, tool: Any) -> None:
        object.__setattr__(self, "_runtape__call", call)
        object.__setattr__(self, "_runtape__tool", tool)

    def __getattribute__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "_runtape__tool"), name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(_tool_of(self), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(_tool_of(self), name)

    def __dir__(self) -> list[str]:
        return dir(_tool_of(self))

    def __repr__(self) -> str:
        return repr(_tool_of(self))

    def __str__(self) -> str:
        return str(_tool_of(self))

    def __hash__(self) -> int:
        return hash(_tool_of(self))

    def __eq__(self, other: object) -> Any:
        return _tool_of(self) == (_tool_of(other) if issubclass(type(other), _Lookalike) else other)

    def __ne__(self, other: object) -> Any:
        return _tool_of(self) != (_tool_of(other) if issubclass(type(other), _Lookalike) else other)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _tool_of(self).__reduce_ex__(protocol)


def _tool_of(lookalike: Any) -> Any:
    return object.__getattribute__(lookalike, "_runtape__tool")


@functools.cache
def _class_for(kind: type) -> type[_Lookalike]:
    """The class of stand-ins for instances of `kind`: with the same operators, so that what fails there fails here."""
    members: dict[str, Any] = {"__slots__": (), "__call__": _calling(kind)}
    names = {name for base in kind.__mro__ if base is not object for name in vars(base)}
    for name in names - _OWN:
        if name.startswith("__") and name.endswith("__") and callable(getattr(kind, name, None)):
            members[name] = _handing_on(kind, name)
    if "__get__" in names:
        members["__get__"] = _bound
    return type(kind.__name__, (_Lookalike,), members)


def _calling(kind: Any) -> Call:
    def __call__(self: Any, /, *args: Any, **kwargs: Any) -> Any:  # noqa: N807 -- shown in tracebacks and signatures
        return object.__getattribute__(self, "_runtape__call")(*args, **kwargs)

    called = getattr(kind, "__call__", None)  # noqa: B004 -- for its signature, not to ask whether it is there
    return functools.update_wrapper(__call__, called) if isinstance(called, FunctionType) else __call__


def _handing_on(kind: Any, name: str) -> Call:
    def operator(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return getattr(kind, name)(_tool_of(self), *args, **kwargs)

    return operator


def _bound(self: Any, instance: Any, owner: Any = None) -> Any:
    tool = _tool_of(self)
    bound: Any = cast("Any", type(tool)).__get__(tool, instance, owner)
    if bound is tool:
        return self
    if type(bound) is MethodType and bound.__func__ is tool:
        return MethodType(self, bound.__self__)
    return bound


_OWN = frozenset(
    {
        *("__call__", "__get__", "__class__", "__new__", "__init__", "__del__", "__dict__", "__weakref__", "__slots__"),
        *("__getattribute__", "__getattr__", "__setattr__", "__delattr__", "__dir__", "__repr__", "__str__"),
        *("__hash__", "__eq__", "__ne__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"),
        *("__init_subclass__", "__subclasshook__", "__class_getitem__", "__set_name__", "__sizeof__"),
        *("__copy__", "__deepcopy__", "__getnewargs__", "__getnewargs_ex__"),
    }
)
"""Special methods that are defined above, or that belong to the class and not to its instances."""
