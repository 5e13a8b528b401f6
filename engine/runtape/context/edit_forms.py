"""An edit in words, in JSON, and in the order in which it is applied."""

from __future__ import annotations

from ..errors import BadInput
from ..text import shorten
from ..wire.values import Json, JsonObject
from .edits import AddSystem, Clean, Describe, Drop, Edit, Mark, ReorderTools, Replace, SetModel, SetSystem
from .marking import BEGIN, BETWEEN, END

_ORDER = (Drop, Clean, Replace, Mark, Describe, SetSystem, AddSystem, SetModel, ReorderTools)
_WHOLE = 10**9


def order(edit: Edit) -> tuple[int, str]:
    """Key that sorts the edits of a variant as they are applied."""
    return _ORDER.index(type(edit)), repr(edit)


def in_words(edit: Edit, limit: int = _WHOLE) -> str:
    """What the edit does, such as `leave out 9[1]/s2`; a text in it is shortened to `limit` characters."""
    match edit:
        case Drop(ref):
            return f"leave out {ref}"
        case Clean(text):
            return f"leave {shorten(text, limit)!r} out of what tools return"
        case Replace(old, new):
            return f"put {shorten(new, limit)!r} for {shorten(old, limit)!r}"
        case Mark(style):
            if style == "datamarking":
                return f"put {BETWEEN!r} in place of each space in what tools return"
            return f"put {BEGIN!r} before and {END!r} after what tools return, and take both out of it"
        case Describe(tool, text):
            return f"describe the tool {shorten(tool, limit)} so: {shorten(text, limit)}"
        case SetSystem(text):
            return f"use this system prompt: {shorten(text, limit)}"
        case AddSystem(text):
            return f"add to the system prompt: {shorten(text, limit)}"
        case SetModel(name):
            return f"ask the model {name}"
        case ReorderTools(order):
            return f"offer the tools in the order {', '.join(map(str, order))}"


def spelled(edit: Edit) -> JsonObject:
    """The edit as JSON: the argument of `rerun` that asks for it, with its value."""
    match edit:
        case Drop(ref):
            return {"drop": ref}
        case Clean(text):
            return {"clean": text}
        case Replace(old, new):
            return {"replace": [old, new]}
        case Mark(style):
            return {"mark": style}
        case Describe(tool, text):
            return {"describe": [tool, text]}
        case SetSystem(text):
            return {"system": text}
        case AddSystem(text):
            return {"add_system": text}
        case SetModel(name):
            return {"model_name": name}
        case ReorderTools(order):
            return {"tool_order": list(order)}


def parsed(value: Json) -> Edit:
    """The edit that `spelled` wrote.

    Raises:
        BadInput: the value is not of that form.
    """
    match value:
        case {"drop": str() as ref}:
            return Drop(ref)
        case {"clean": str() as text}:
            return Clean(text)
        case {"replace": [str() as old, str() as new]}:
            return Replace(old, new)
        case {"mark": "delimiters" | "datamarking" as style}:
            return Mark(style)
        case {"describe": [str() as tool, str() as text]}:
            return Describe(tool, text)
        case {"system": str() as text}:
            return SetSystem(text)
        case {"add_system": str() as text}:
            return AddSystem(text)
        case {"model_name": str() as name}:
            return SetModel(name)
        case {"tool_order": [*order]}:
            return ReorderTools(tuple(at for at in order if isinstance(at, int)))
        case _:
            raise BadInput(f"This is no edit: {shorten(repr(value), 80)}.")
