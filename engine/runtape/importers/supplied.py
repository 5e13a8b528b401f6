"""Parts of a request that the person has and the source did not keep."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from ..wire.bodies import listed
from ..wire.dialects import dialect_for
from ..wire.reading import members
from ..wire.values import Json, JsonObject
from .imported import ImportedCall

_SUPPLIED: Final = "supplied at the import: {}"


@dataclass(frozen=True, slots=True)
class Supplied:
    """What goes into every call that lacks it; `endpoint` and `model` into every call."""

    system: str | None = None
    tools: list[Json] | None = None
    """Definitions in the shape of any of the APIs."""
    params: JsonObject | None = None
    endpoint: str | None = None
    model: str | None = None

    def into(self, call: ImportedCall) -> ImportedCall:
        """The call with what it lacked; what the source holds is never replaced."""
        if call.fidelity == "not rebuildable":
            return call
        body = dict(call.body)
        added: list[str] = []
        if self.tools is not None and not body.get("tools"):
            body["tools"] = tools_for(call.api, self.tools)
            added.append("tools")
        if self.system is not None and dialect_for(call.api).system_text(body) is None:
            body = _with_system(call.api, body, self.system)
            added.append("system")
        new = {key: value for key, value in (self.params or {}).items() if key not in body}
        if new:
            body = {**new, **body}
        if self.params is not None:
            added.append("params")
        if self.model is not None:
            body["model"] = self.model
            added.append("model")
        changed = replace(call, body=body, endpoint=self.endpoint or call.endpoint)
        left = tuple(part for part in call.missing if part not in added)
        if left == call.missing:
            return changed
        told = _SUPPLIED.format(", ".join(added))
        why = told if call.why is None else f"{call.why}; {told}"
        return replace(changed, missing=left, fidelity="partial" if left else "rebuilt", why=why)


def _with_system(api: str, body: JsonObject, system: str) -> JsonObject:
    dialect = dialect_for(api)
    if api == "chat.completions":
        return {**body, "messages": [{"role": "system", "content": system}, *listed(body.get("messages"))]}
    return dialect.with_system(body, system)


def tools_for(api: str, tools: list[Json]) -> list[Json]:
    """Definitions of tools in the shape of an API; one that is no function of any API's shape stays as it is."""
    return [_tool(api, tool) for tool in tools]


def _tool(api: str, tool: Json) -> Json:
    given = members(tool)
    function = members(given.get("function")) or given
    name = function.get("name")
    if not isinstance(name, str) or given.get("type", "function") not in ("function", "custom"):
        return tool
    schema = next((function[key] for key in _SCHEMAS if isinstance(function.get(key), dict)), None)
    if schema is None and given is function and "description" not in given:
        return tool
    about: JsonObject = {"name": name}
    if isinstance(function.get("description"), str):
        about["description"] = function["description"]
    if api == "messages":
        kept: JsonObject = {"cache_control": given["cache_control"]} if "cache_control" in given else {}
        return {**about, "input_schema": schema or {"type": "object", "properties": {}}, **kept}
    if schema is not None:
        about["parameters"] = schema
    if isinstance(function.get("strict"), bool):
        about["strict"] = function["strict"]
    return {"type": "function", **about} if api == "responses" else {"type": "function", "function": about}


_SCHEMAS: Final = ("parameters", "input_schema", "inputSchema", "parameters_json_schema", "schema")
