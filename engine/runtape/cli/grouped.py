"""Options that several commands take together: one parameter of the command, one flag on the line for each field."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints


def flags(command: Callable[..., int]) -> inspect.Signature:
    """The signature of a command with every parameter whose type is a dataclass replaced by the fields of that."""
    flat: list[inspect.Parameter] = []
    for parameter in _parameters(command):
        flat += _fields(parameter.annotation) if is_dataclass(parameter.annotation) else [parameter]
    return inspect.Signature(flat)


def gathered(command: Callable[..., int], given: Mapping[str, object]) -> dict[str, object]:
    """The arguments of a command from the flags that were given."""
    left = dict(given)
    for parameter in _parameters(command):
        group: Any = parameter.annotation
        if is_dataclass(parameter.annotation):
            left[parameter.name] = group(**{field.name: left.pop(field.name) for field in fields(group)})
    return left


def _parameters(command: Callable[..., int]) -> list[Any]:
    # `get_type_hints` of Python 3.10 hides what is annotated inside an Optional where the default is None.
    return [*inspect.signature(command, eval_str=True).parameters.values()]


def _fields(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(group)
    ]
