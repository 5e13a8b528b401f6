"""The texts of a run in the order in which they came into it, each with who wrote it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ..wire.dialects import dialect_for
from ..wire.values import Json, JsonObject, Parts, Slot
from .calls import asked_in, declared, tool_of
from .events import Event
from .trace import Trace

Writer: TypeAlias = Literal["system", "user", "agent", "tool", "tools", "program"]
"""`tools`: the definitions of the tools. `program`: the code around the agent, in notes, states and errors."""

_KINDS: Final[dict[str, Writer]] = {
    "system": "system",
    "user": "user",
    "assistant": "agent",
    "tool_arguments": "agent",
    "tool_result": "tool",
}
_THOUGHTS: Final = frozenset({"reasoning", "reasoning_content", "thinking", "refusal", "summary", "text", "content"})
"""Keys of a response body under which words stand that the short form of a reply leaves out."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One text of one event."""

    event: int
    writer: Writer
    text: str
    tool: str | None = None
    """The tool whose result or definition it is, or that the agent calls with it."""
    call: int | None = None
    """For a tool's result, the `tool_call` event that fetched it, where one was recorded."""
    asked: int | None = None
    """For a tool's result, the `llm_response` that asked for the call, where it is known."""


def passages(trace: Trace) -> Iterator[Passage]:
    """Every text of the run, events in file order.

    Of a request only what it adds to the one that it builds on. A tool's result stands in its own event, then in the
    request that carries it to the model.
    """
    reading = _Reading()
    for event in trace.events:
        yield from reading.of(event)


class _Reading:
    """What is known of the calls so far, while the events go by."""

    def __init__(self) -> None:
        self._asked: dict[str, tuple[str, int]] = {}
        self._runs: dict[int, Event] = {}

    def of(self, event: Event) -> Iterator[Passage]:
        match event.type:
            case "llm_request":
                yield from self._request(event)
            case "llm_response":
                for asked in asked_in(event):
                    if asked.call_id:
                        self._asked[asked.call_id] = (asked.name, event.id)
                yield from _reply(event)
            case "tool_call":
                self._runs[event.id] = event
                yield Passage(event.id, "agent", _spelled(event.payload.get("arguments")), tool_of(event))
            case "tool_result":
                run = self._runs.get(event.parent) if event.parent is not None else None
                text = _spelled(event.payload.get("result", event.payload.get("error")))
                yield Passage(event.id, "tool", text, tool_of(event), run.id if run else None, self._asking(run, event))
            case _:
                yield Passage(event.id, "program", "\n".join(_texts(event.payload)))

    def _request(self, event: Event) -> Iterator[Passage]:
        payload = event.payload
        tools = payload.get("tools")
        for tool in tools if isinstance(tools, list) else ():
            yield Passage(event.id, "tools", _spelled(tool), declared(tool))
        model = payload.get("model")
        parts = Parts(model if isinstance(model, str) else None, payload.get("system"), _added(payload), None, {})
        dialect = dialect_for(str(payload.get("api") or "chat.completions"))
        yield from (self._slot(event, slot) for slot in dialect.slots(dialect.join(parts)) if slot.kind in _KINDS)

    def _slot(self, event: Event, slot: Slot) -> Passage:
        tool, asked = self._asked.get(slot.call_id or "", (slot.tool, None))
        is_result = slot.kind == "tool_result"
        return Passage(event.id, _KINDS[slot.kind], slot.text, tool, None, asked if is_result else None)

    def _asking(self, run: Event | None, result: Event) -> int | None:
        known = run.meta.get("requested_by") if run else None
        if isinstance(known, int):
            return known
        for source in (result, run):
            call_id = source.payload.get("call_id") if source else None
            if isinstance(call_id, str) and call_id in self._asked:
                return self._asked[call_id][1]
        return None


def _added(payload: JsonObject) -> list[Json]:
    """The messages that a request stores itself."""
    for key in ("messages", "messages_append"):
        messages = payload.get(key)
        if isinstance(messages, list):
            return messages
    parts = payload.get("messages_parts")
    new = [part.get("new") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    return [message for messages in new if isinstance(messages, list) for message in messages]


def _reply(event: Event) -> Iterator[Passage]:
    payload = event.payload
    said: list[str] = []
    if isinstance(text := payload.get("text"), str):
        said.append(text)
        yield Passage(event.id, "agent", text)
    calls = payload.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            name, arguments = call.get("name"), _spelled(call.get("arguments"))
            yield Passage(event.id, "agent", arguments, name if isinstance(name, str) else None)
    for thought in _thoughts(payload.get("raw")):
        if thought not in said:
            said.append(thought)
            yield Passage(event.id, "agent", thought)
    if payload.get("error") is not None:
        yield Passage(event.id, "program", "\n".join(_texts(payload["error"])))


def _thoughts(raw: Json, key: str = "") -> Iterator[str]:
    """Texts of a response body that stand under a key for words."""
    match raw:
        case dict():
            for name, value in raw.items():
                yield from _thoughts(value, name)
        case list():
            for value in raw:
                yield from _thoughts(value, key)
        case str() if key in _THOUGHTS and raw:
            yield raw
        case _:
            pass


def _texts(value: Json) -> Iterable[str]:
    match value:
        case dict():
            return [text for item in value.values() for text in _texts(item)]
        case list():
            return [text for item in value for text in _texts(item)]
        case str():
            return [value]
        case _:
            return []


def _spelled(value: Json) -> str:
    """A value as a model would read it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
