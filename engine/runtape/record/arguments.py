"""What a tool was called with, under the names that its definition uses."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

OWNERS = ("self", "cls")
"""First parameters that hold the object or class of a method: no argument that a model could have given."""


def binder(
    function: Callable[..., Any], *, is_method: bool = False
) -> Callable[[tuple[Any, ...], Mapping[str, Any]], dict[str, Any]]:
    """A function from the positional and keyword arguments of one call to a dict by parameter name.

    Extra keywords stand beside the named ones; extra positions are a list under their parameter's name. Defaults that
    the caller left alone are left out, and so is the object of a method. Arguments that do not fit, or a function that
    does not tell its parameters, give `{"args": [...], ...keywords}`.
    """
    try:
        signature = inspect.signature(function)
    except Exception:  # noqa: BLE001 -- a foreign callable may raise anything when it is looked at
        return _unnamed
    kinds = {name: parameter.kind for name, parameter in signature.parameters.items()}
    plain = () if set(kinds.values()) != {inspect.Parameter.POSITIONAL_OR_KEYWORD} else tuple(kinds)
    required = [name for name in plain if signature.parameters[name].default is inspect.Parameter.empty]
    owner = next((name for name in list(kinds)[:1] if is_method or name in OWNERS), None)

    def bound(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = dict(zip(plain, args, strict=False))
        if kwargs:
            values.update((name, kwargs[name]) for name in plain[len(args) :] if name in kwargs)
        # What `bind` finds, for most functions and calls at a fraction of its cost.
        if len(values) != len(args) + len(kwargs) or not all(map(values.__contains__, required)):
            try:
                values = signature.bind(*args, **kwargs).arguments
            except TypeError:
                return _unnamed(args, kwargs)
        named: dict[str, Any] = {}
        for name, value in values.items():
            if name == owner:
                continue
            if kinds[name] is inspect.Parameter.VAR_KEYWORD:
                named.update(value)
            else:
                named[name] = value
        return named

    return bound


def _unnamed(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    return {"args": list(args), **kwargs}
