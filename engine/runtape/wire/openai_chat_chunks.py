"""A chat completion as the chunks of a stream: the inverse of putting them together."""

from __future__ import annotations

from .bodies import objects
from .reading import members
from .sse import DONE
from .values import Json, JsonObject

_RESPONSE_ONLY = frozenset({"choices", "object", "usage", "stream_error"})


def chunks(body: JsonObject, *, complete: bool) -> list[Json]:
    """The data of the stream's events, each text in one piece; without the end mark where the stream was cut."""
    head: JsonObject = {key: value for key, value in body.items() if key not in _RESPONSE_ONLY}
    head["object"] = "chat.completion.chunk"
    found: list[Json] = [
        {**head, "choices": [piece]} for _, choice in objects(body.get("choices")) for piece in _pieces(choice)
    ]
    if "usage" in body:
        found.append({**head, "choices": [], "usage": body["usage"]})
    if "stream_error" in body:
        found.append({"error": body["stream_error"]})
    if complete:
        found.append(DONE)
    return found


def _pieces(choice: JsonObject) -> list[Json]:
    message = dict(members(choice.get("message")))
    rest = {key: value for key, value in choice.items() if key not in ("message", "index", "finish_reason")}
    calls = message.pop("tool_calls", None)
    role = {"role": message.pop("role")} if "role" in message else {}
    deltas: list[JsonObject] = [role, *({key: value} for key, value in message.items())]
    deltas.extend({"tool_calls": [{"index": index, **call}]} for index, call in objects(calls))
    index = choice.get("index", 0)
    ended: JsonObject = {**rest, "index": index, "delta": {}, "finish_reason": choice.get("finish_reason")}
    return [*({"index": index, "delta": delta, "finish_reason": None} for delta in deltas), ended]
