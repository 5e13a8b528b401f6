"""What a model function takes and returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

from .. import canon
from ..jsonable import jsonable
from ..wire.dialects import dialect_for
from ..wire.values import Reply, Request, ToolCall

WANTED = 'return a string or {"text": ..., "tool_calls": [{"name": ..., "arguments": {...}}]}'


class BadShape(ValueError):
    """Raised when a value is no reply in the shape that model functions return; the text says what it is instead."""


def as_dict(request: Request) -> dict[str, Any]:
    """The request as model functions receive it: `provider, api, model, system, tools, messages, params`.

    A copy of their own, as JSON. `system` is the system prompt as text, wherever the API puts it; `messages` holds
    every message, system ones included.
    """
    dialect = dialect_for(request.api)
    body, _left_out = dialect.for_rerun(request.body)
    parts = dialect.split(body)
    asked: dict[str, Any] = {
        "provider": request.provider,
        "api": request.api,
        "model": parts.model,
        "system": dialect.system_text(body),
    }
    for name, value in (("tools", parts.tools), ("messages", parts.messages), ("params", parts.params)):
        asked[name] = canon.loads(canon.dumps(value))
    return asked


def as_reply(value: object) -> Reply:
    """The reply that a model function means by the value it returned.

    Raises:
        BadShape: the value is no such reply.
    """
    if isinstance(value, str):
        return Reply(value, stop="end")
    if not _is_dict(value):
        raise BadShape(f"a value of type {type(value).__name__}")
    if not value or not value.keys() <= {"text", "tool_calls"}:
        raise BadShape(f"a dict with the keys {sorted(map(str, value))}")
    text, calls = value.get("text"), value.get("tool_calls") or ()
    if text is not None and not isinstance(text, str):
        raise BadShape(f"a text of type {type(text).__name__}")
    if not _is_sequence(calls):
        raise BadShape(f"tool_calls of type {type(calls).__name__}")
    made = tuple(_tool_call(item) for item in calls)
    return Reply(text, made, stop="tool_calls" if made else "end")


def _tool_call(item: object) -> ToolCall:
    name = item.get("name") if _is_dict(item) else None
    if not _is_dict(item) or not isinstance(name, str):
        raise BadShape("a tool call without a name")
    arguments = item.get("arguments")
    if isinstance(arguments, str):
        try:
            return ToolCall(name, arguments, canon.loads(arguments))
        except ValueError:
            return ToolCall(name, arguments, None)
    plain = jsonable({} if arguments is None else arguments)
    if not isinstance(plain, dict):
        raise BadShape(f"arguments of type {type(arguments).__name__} for tool {name!r}")
    return ToolCall(name, canon.dumps(plain).decode(), plain)


def _is_dict(value: object) -> TypeGuard[dict[object, object]]:
    return isinstance(value, dict)


def _is_sequence(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, (list, tuple))
