"""The words in the definition of a tool."""

from __future__ import annotations

from collections.abc import Iterator

from .reading import members, text_or_none
from .values import Json, JsonObject, Path, Slot

_SCHEMAS = ("parameters", "input_schema")
"""Keys under which the APIs keep the schema of a tool's arguments."""

_HOLDERS = ("function", "custom")
"""Keys under which chat completions keep a tool's name and description; the other APIs keep them in the tool itself."""

# JSON Schema (2020-12 and older): keys whose value is a schema or a list of them, and keys that map names to schemas.
_INSIDE = (
    "items",
    "prefixItems",
    "additionalProperties",
    "contains",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
)
_NAMED = ("properties", "patternProperties", "$defs", "definitions")
_PARAMETERS = frozenset({"properties", "patternProperties"})


def described(tool: JsonObject, path: Path, block: int) -> Iterator[Slot]:
    """The description of a tool, then those of its parameters, in the order in which they stand.

    Args:
        tool: The object that holds the tool's name.
        path: Where it stands in the body.
        block: The index of the tool.
    """
    name = text_or_none(tool.get("name")) or text_or_none(tool.get("server_label"))
    for key in ("description", "server_description"):
        text = tool.get(key)
        if isinstance(text, str):
            yield Slot((*path, key), "tool_definition", -1, block, text, name)
    for key in _SCHEMAS:
        yield from _schema(tool.get(key), (*path, key), block, name)


def _schema(schema: Json, path: Path, block: int, name: str | None) -> Iterator[Slot]:
    # With a stack of its own: a schema may be nested deeper than Python calls.
    stack: list[tuple[Json, Path, tuple[str, ...]]] = [(schema, path, ())]
    while stack:
        value, at, parameter = stack.pop()
        if isinstance(value, list):
            stack += reversed([(item, (*at, index), parameter) for index, item in enumerate(value)])
            continue
        if not isinstance(value, dict):
            continue
        text = value.get("description")
        if isinstance(text, str):
            where = ".".join(parameter) or "arguments"
            yield Slot((*at, "description"), "tool_definition", -1, block, text, name, parameter=where)
        below: list[tuple[Json, Path, tuple[str, ...]]] = []
        for key, inside in value.items():
            if key in _INSIDE:
                below.append((inside, (*at, key), parameter))
            elif key in _NAMED:
                for named, schema_of in members(inside).items():
                    inner = (*parameter, named) if key in _PARAMETERS else parameter
                    below.append((schema_of, (*at, key, named), inner))
        stack += reversed(below)


def names_of(tools: Json) -> list[str]:
    """What the tools that can be called by name are called."""
    holders = (_holder(tool) for tool in (tools if isinstance(tools, list) else []))
    return [name for holder in holders if holder and (name := text_or_none(holder.get("name")))]


def with_description(tools: Json, name: str, text: str) -> Json:
    """The tools with `text` as the description of those of that name."""
    if not isinstance(tools, list):
        return tools
    return [_described(tool, text) if _names(tool, name) else tool for tool in tools]


def _described(tool: Json, text: str) -> Json:
    if not isinstance(tool, dict):
        return tool
    for key in _HOLDERS:
        inside = tool.get(key)
        if isinstance(inside, dict):
            return {**tool, key: {**inside, "description": text}}
    return {**tool, "description": text}


def _names(tool: Json, name: str) -> bool:
    holder = _holder(tool)
    return holder is not None and holder.get("name") == name


def _holder(tool: Json) -> JsonObject | None:
    """The object that holds the name of a tool."""
    if not isinstance(tool, dict):
        return None
    return next((inside for key in _HOLDERS if isinstance(inside := tool.get(key), dict)), tool)
