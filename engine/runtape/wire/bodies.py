"""Request bodies as named parts, for every API: which key goes where, and edits that copy only what they change.

A key whose value its part cannot carry unchanged (null, an empty list of messages, a value of the wrong type) stays
under its own name in `Parts.params`, so that putting together gives back absent, null and empty as they were.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from .values import Json, JsonObject, Parts


@dataclass(frozen=True, slots=True)
class Keys:
    """Where an API keeps the parts of a request."""

    messages: str
    system: str | None = None
    """None where the system prompt is one of the messages."""
    text_input: bool = False
    """True where a plain string may stand for the messages; it is then the only message."""


def take_apart(body: JsonObject, keys: Keys) -> Parts:
    """The parts of `body`; `put_together` is the inverse."""
    params = dict(body)
    model = body.get("model")
    if isinstance(model, str):
        del params["model"]
    else:
        model = None
    messages = _messages(body.get(keys.messages), keys)
    if messages:
        del params[keys.messages]
    system = None if keys.system is None else body.get(keys.system)
    if keys.system is not None and system is not None:
        del params[keys.system]
    tools = body.get("tools")
    if tools is not None:
        del params["tools"]
    return Parts(model, system, messages, tools, params)


def put_together(parts: Parts, keys: Keys) -> JsonObject:
    """The body of `parts`; inverse of `take_apart`."""
    body: JsonObject = {}
    if parts.model is not None:
        body["model"] = parts.model
    messages: list[Json] = parts.messages
    if parts.system is not None:
        if keys.system is not None:
            body[keys.system] = parts.system
        else:
            # A call logged by hand names its system prompt apart from the messages, whatever its API.
            prompt: JsonObject = {"role": "system", "content": parts.system}
            messages = [prompt, *messages]
    if messages:
        plain = keys.text_input and len(messages) == 1 and isinstance(messages[0], str)
        body[keys.messages] = messages[0] if plain else list(messages)
    if parts.tools is not None:
        body["tools"] = parts.tools
    return {**parts.params, **body}


def _messages(value: Json, keys: Keys) -> list[Json]:
    if isinstance(value, list):
        # A list that holds one bare string would come back as that string.
        bare = keys.text_input and len(value) == 1 and isinstance(value[0], str)
        return [] if bare else list(value)
    return [value] if keys.text_input and isinstance(value, str) else []


def listed(value: Json) -> list[Json]:
    """`value` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def objects(value: Json) -> list[tuple[int, JsonObject]]:
    """The objects in a list, with their indexes."""
    return [(index, item) for index, item in enumerate(listed(value)) if isinstance(item, dict)]


_TRANSPORT = ("stream", "stream_options", "seed")
"""How an answer travels; and a seed, with which every rerun would be the same draw."""


def sent_again(body: JsonObject, also: Collection[str] = ()) -> tuple[JsonObject, tuple[str, ...]]:
    """`body` without the keys that concern the transport only, and the names of those that it had."""
    dropped = tuple(key for key in body if key in _TRANSPORT or key in also)
    return {key: value for key, value in body.items() if key not in dropped}, dropped
