"""The tool calls that replies asked for and that no tool run has answered yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from ..wire.values import Json, ToolCall

REPLIES = 256
"""Replies looked back on. Calls that a framework runs itself are never claimed and would otherwise pile up."""


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """One tool call of a reply; two calls alike stay two."""

    reply: int
    """The `llm_response` that asked for it."""
    name: str
    arguments: Json
    call_id: str | None


class Asked:
    """Pairs tool runs with the calls that asked for them.

    No lock: every step that changes a list is one operation of the interpreter, because this also runs when the garbage
    collector finishes a tool's generator in the middle of another call here.
    """

    def __init__(self) -> None:
        self._replies: deque[list[Wanted]] = deque(maxlen=REPLIES)

    def add(self, reply: int, calls: Iterable[ToolCall]) -> None:
        """Remember the tool calls of the reply with event number `reply`."""
        wanted = [Wanted(reply, call.name, call.arguments, call.id) for call in calls]
        if wanted:
            self._replies.append(wanted)

    def claim(self, name: str, arguments: Json, call_id: str | None = None) -> Wanted | None:
        """The call that this tool run answers, taken out of the list; None when no reply asked for the tool.

        The call with that id, where one is known. Else a call with equal arguments comes first, in the latest reply
        that has one; after that the first call of that name: programs fill in defaults and convert types before they
        run a tool.
        """
        while True:
            found = self._find(name, arguments, call_id)
            if found is None:
                return None
            calls, wanted = found
            try:
                calls.remove(wanted)
            except ValueError:  # another thread took it in the meantime
                continue
            return wanted

    def _find(self, name: str, arguments: Json, call_id: str | None) -> tuple[list[Wanted], Wanted] | None:
        best: tuple[list[Wanted], Wanted] | None = None
        most = -1
        perfect = 1 if call_id is None else 3
        for calls in reversed(tuple(self._replies)):
            for wanted in tuple(calls):
                if wanted.name != name:
                    continue
                agreement = (wanted.arguments == arguments) + 2 * (call_id is not None and wanted.call_id == call_id)
                if agreement > most:
                    best, most = (calls, wanted), agreement
                if agreement == perfect:
                    return best
        return best
