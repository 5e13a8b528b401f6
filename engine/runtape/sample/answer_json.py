"""One answer as the text of a cache row."""

from __future__ import annotations

from typing import cast, get_args

from .. import canon
from ..wire.values import Json, JsonObject, Reply, Stop, ToolCall, Usage
from .model import Answer

STOPS: frozenset[str] = frozenset(get_args(Stop))


class BadRow(ValueError):
    """Raised when a text is not an answer that `encode` wrote."""


def encode(answer: Answer) -> str:
    """The answer as one line of ASCII JSON; `decode` reads it back equal."""
    reply = answer.reply
    row: JsonObject = {"raw": answer.raw, "error": answer.error, "reply": None}
    if reply is not None:
        row["reply"] = {
            "text": reply.text,
            "tool_calls": [
                {"name": call.name, "text": call.text, "arguments": call.arguments, "id": call.id}
                for call in reply.tool_calls
            ],
            "refusal": reply.refusal,
            "stop": reply.stop,
            "stop_reason": reply.stop_reason,
            "model": reply.model,
            "id": reply.id,
            "usage": [reply.usage.input, reply.usage.output, reply.usage.cached],
        }
    return canon.dumps(row).decode()


def decode(text: object) -> Answer:
    """The answer in a cache row.

    Raises:
        BadRow: the row is torn or has another shape.
    """
    if not isinstance(text, str):
        raise BadRow("not a text")
    try:
        row = canon.loads(text)
    except ValueError as error:
        raise BadRow("not JSON") from error
    fields = _object(row)
    reply = fields.get("reply")
    if not {"raw", "error", "reply"} <= fields.keys():
        raise BadRow("a field is missing")
    error_text = _text_or_none(fields["error"])
    if reply is None and error_text is None:
        raise BadRow("neither a reply nor an error")
    return Answer(None if reply is None else _reply(_object(reply)), fields["raw"], error_text)


def _reply(fields: JsonObject) -> Reply:
    stop = fields.get("stop")
    calls = fields.get("tool_calls")
    usage = fields.get("usage")
    if not isinstance(stop, str) or stop not in STOPS or not isinstance(calls, list):
        raise BadRow("wrong types in the reply")
    if not isinstance(usage, list) or len(usage) != 3:
        raise BadRow("wrong types in the usage")
    return Reply(
        text=_text_or_none(fields.get("text")),
        tool_calls=tuple(_call(_object(call)) for call in calls),
        refusal=_text_or_none(fields.get("refusal")),
        stop=cast("Stop", stop),
        stop_reason=_text_or_none(fields.get("stop_reason")),
        model=_text_or_none(fields.get("model")),
        id=_text_or_none(fields.get("id")),
        usage=Usage(*(_count(number) for number in usage)),
    )


def _call(fields: JsonObject) -> ToolCall:
    name, text = fields.get("name"), fields.get("text")
    if not isinstance(name, str) or not isinstance(text, str):
        raise BadRow("wrong types in a tool call")
    return ToolCall(name, text, fields.get("arguments"), _text_or_none(fields.get("id")))


def _object(value: Json) -> JsonObject:
    if not isinstance(value, dict):
        raise BadRow("not an object")
    return value


def _text_or_none(value: Json) -> str | None:
    if value is not None and not isinstance(value, str):
        raise BadRow("not a text")
    return value


def _count(value: Json) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise BadRow("not a count")
    return value
