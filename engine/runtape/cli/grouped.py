"""Options that several commands take together: one parameter of the command, one flag on the line for each field."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints


def flags(command: Callable[..., int]) -> inspect.Signature:
    """The signature of a command with every parameter whose type is a dataclass replaced by the fields of that."""
    hints = get_type_hints(command, include_extras=True)
    flat: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        hint = hints[parameter.name]
        flat += _fields(hint) if is_dataclass(hint) else [parameter.replace(annotation=hint)]
    return inspect.Signature(flat)


def gathered(command: Callable[..., int], given: Mapping[str, object]) -> dict[str, object]:
    """The arguments of a command from the flags that were given."""
    left = dict(given)
    for name, hint in get_type_hints(command).items():
        group: Any = hint
        if is_dataclass(hint):
            left[name] = group(**{field.name: left.pop(field.name) for field in fields(hint)})
    return left


def _fields(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(group)
    ]
