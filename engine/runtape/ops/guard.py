"""A check outside the model: a tool call goes through only with an argument that the user wrote, or never by itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..errors import BadInput
from ..wire.values import Json, Reply, Slot

BLOCKED = "is blocked by the guard"


@dataclass(frozen=True, slots=True)
class Guard:
    """Lets a call of `tool` through only when every value in `argument` stands in the user's own messages."""

    tool: str
    argument: str | None = None
    """Name of the argument; None for a gate, which holds every call back until a person lets it through."""

    @property
    def words(self) -> str:
        """What it does, and what to do in the agent's code."""
        if self.argument is None:
            return f"hold every call of {self.tool} back until a person allows it: ask before your code runs the tool"
        return (
            f"let {self.tool} through only when its argument {self.argument} stands in the user's messages: check it "
            "before your code runs the tool"
        )

    def blocks(self, reply: Reply, user_text: str) -> bool:
        """True when the reply calls the tool with a value that the user did not write; for a gate, when it calls it."""
        return any(
            self.argument is None
            # Arguments that cannot be read cannot be checked.
            or not isinstance(call.arguments, dict)
            or not all(_stands_in(value, user_text) for value in _leaves(call.arguments.get(self.argument)))
            for call in reply.tool_calls
            if call.name == self.tool
        )


def parse_guard(text: str) -> Guard:
    """The guard written as `TOOL.ARGUMENT`, or as `TOOL` for a gate.

    Raises:
        BadInput: a part is missing.
    """
    tool, dot, argument = text.partition(".")
    if not tool or (dot and not argument):
        raise BadInput(f"The guard {text!r} is not TOOL.ARGUMENT, and not TOOL for a gate. Name a tool.")
    return Guard(tool, argument or None)


def user_text(slots: Iterable[Slot]) -> str:
    """Everything the user wrote in a request."""
    return "\n".join(slot.text for slot in slots if slot.kind == "user" and slot.form == "text")


def _leaves(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _leaves(item)
        case dict():
            for item in value.values():
                yield from _leaves(item)
        case None:
            return
        case _:
            yield json.dumps(value)


def _stands_in(value: str, text: str) -> bool:
    words = value.split()
    if not words:
        return True
    pattern = r"\s+".join(map(re.escape, words))
    return re.search(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE) is not None
