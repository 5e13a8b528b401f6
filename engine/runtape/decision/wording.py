"""The words of a decision."""

from __future__ import annotations

from collections.abc import Iterator

from ..wire.values import Json, Reply


def decision_text(reply: Reply) -> str:
    """What the reply decides, to compare with the context: tool names and argument values; without calls, its text."""
    said = [part for call in reply.tool_calls for part in (call.name, *values(call.arguments, call.text))]
    return "\n".join(said) if said else reply.text or ""


def values(arguments: Json, text: str) -> Iterator[str]:
    """The values in some arguments as texts, keys left out; the text itself when it is not JSON."""
    if arguments is None:
        yield text
        return
    waiting: list[Json] = [arguments]
    while waiting:
        value = waiting.pop()
        match value:
            case dict():
                waiting.extend(list(value.values())[::-1])
            case list():
                waiting.extend(value[::-1])
            case bool() | None:
                # True, false and null are in no sentence.
                continue
            case _:
                yield str(value)
