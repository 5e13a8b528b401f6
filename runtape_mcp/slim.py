"""Published schemas, cut to what a client needs: every request to a model carries them.

Validation stays with the full models. What is left out is what a caller would not act on: titles, that an optional
argument may also be null, bounds, and in answers the types of the fields.
"""

from __future__ import annotations

from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]
"""A JSON schema or a part of one."""

_UNSAID = ("additionalProperties", "title", "maxLength", "minLength", "maxItems", "pattern", "minimum", "maximum")
_PLAIN_DEFAULTS: tuple[object, ...] = (None, False, "", [])
_NULL: Schema = {"type": "null"}


def slim_input(schema: Schema) -> Schema:
    """The schema of a tool's arguments."""
    slimmed = _slim(schema, schema.get("$defs", {}))
    slimmed.pop("$defs", None)
    return {**slimmed, "additionalProperties": False}


def slim_output(schema: Schema) -> Schema:
    """The schema of a tool's answer: the names of its fields, which tell a reader what their types would."""
    return {"type": "object", "properties": {name: {} for name in schema["properties"]}}


def _slim(schema: Schema, defs: Schema) -> Schema:
    if "$ref" in schema:
        return _slim(_named(schema, defs), defs)
    made: Schema = {}
    for key, value in schema.items():
        match key:
            case "properties":
                made[key] = {name: _slim(field, defs) for name, field in value.items()}
            case "items":
                made[key] = _slim(value, defs)
                # What the rows are is said by the description of the list.
                made[key].pop("description", None)
            case "anyOf":
                choices = [_slim(choice, defs) for choice in value if choice != _NULL]
                made |= choices[0] if len(choices) == 1 else {"type": [choice["type"] for choice in choices]}
            case "default" if value in _PLAIN_DEFAULTS:
                pass
            case _ if key not in _UNSAID:
                made[key] = value
            case _:
                pass
    return made


def _named(schema: Schema, defs: Schema) -> Schema:
    name: str = schema["$ref"]
    named: Schema = defs[name.rpartition("/")[2]]
    return {**named, **{key: value for key, value in schema.items() if key != "$ref"}}
