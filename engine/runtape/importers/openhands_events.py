"""Events of OpenHands as the turns of a conversation, in the shape of chat completions.

Version 0 (https://github.com/All-Hands-AI/OpenHands) repeats the raw reply on every action that it asked for; version 1
(https://github.com/OpenHands/software-agent-sdk, `sdk/event`) has one event per tool call, with the id of the reply.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from ..canon import dumps
from ..wire.bodies import listed, objects
from ..wire.reading import id_of, members, text_or_none
from ..wire.values import Json, JsonObject
from .conversation import Turn, tool_call
from .moments import seconds

CONDENSED: Final = "the history as it was condensed"
_SHOWN: Final = "results as the model was shown them"
"""The agent adds a line or two to what a tool gave."""
_NONE: Final[JsonObject] = {}
_SILENT: Final = ("condensation_request", "change_agent_state", "recall", "null")


@dataclass(slots=True)
class Told:
    """What the events read so far tell."""

    turns: list[Turn] = field(default_factory=list[Turn])
    tools: list[Json] = field(default_factory=list["Json"])
    model: str | None = None
    has_system: bool = False
    _replies: dict[str, int] = field(default_factory=dict[str, int])
    """Where the turn of a reply stands, by the id of the reply."""

    def take(self, place: str, event: JsonObject) -> bool:
        """One event; False when it is none of the conversation."""
        at = seconds(event.get("timestamp"))
        before = len(self.turns)
        known = self._kind(place, event) if "kind" in event else self._action(place, event)
        self.turns[before:] = [replace(turn, started=at) for turn in self.turns[before:]]
        return known

    def _system(self, place: str, content: Json, tools: Json) -> None:
        self.has_system = True
        self.tools = [tool for _, tool in objects(tools) if "function" in tool]
        self.turns.append(Turn(place, {"role": "system", "content": content}))

    def _action(self, place: str, event: JsonObject) -> bool:
        """An event of version 0."""
        args, about = members(event.get("args")), members(event.get("tool_call_metadata"))
        response = members(about.get("model_response"))
        action, observation = event.get("action"), event.get("observation")
        by_agent = event.get("source") == "agent"
        if action == "system":
            self._system(place, args.get("content"), args.get("tools"))
        elif action == "condensation":
            self._condensed(place)
        elif action in _SILENT or observation in _SILENT or (action is None and observation is None):
            return False
        elif observation is not None:
            self._result(place, about, event.get("content"), failed=observation == "error")
        elif action == "message" and not by_agent:
            self.turns.append(Turn(place, {"role": "user", "content": _asked(args)}))
        elif response and by_agent:
            self._raw_reply(place, response)
        elif by_agent:
            said = text_or_none(args.get("content")) or text_or_none(args.get("thought"))
            loses = () if action == "message" else ("the text of the action",)
            self.turns.append(Turn(place, {"role": "assistant", "content": said}, loses=loses))
        return True

    def _raw_reply(self, place: str, response: JsonObject) -> None:
        id_ = id_of(response.get("id")) or place
        if id_ in self._replies:
            return
        self._replies[id_] = len(self.turns)
        said = next((members(choice.get("message")) for _, choice in objects(response.get("choices"))), None) or _NONE
        message: JsonObject = {key: part for key, part in said.items() if part is not None}
        self.model = text_or_none(response.get("model")) or self.model
        self.turns.append(Turn(place, {"role": "assistant", "content": None, **message}, reply=response))

    def _result(self, place: str, about: JsonObject, content: Json, *, failed: bool) -> None:
        id_ = id_of(about.get("tool_call_id"))
        message: JsonObject = {"role": "user", "content": content}
        if id_ is not None:
            message = {"role": "tool", "tool_call_id": id_, "content": content}
        error = text_or_none(content) if failed else None
        name = text_or_none(about.get("function_name")) or text_or_none(about.get("tool_name"))
        self.turns.append(Turn(place, message, error=error, tool=name, loses=(_SHOWN,)))

    def _condensed(self, place: str) -> None:
        self.turns.append(
            Turn(place, {"role": "user", "content": "[earlier events were condensed]"}, loses=(CONDENSED,))
        )

    def _kind(self, place: str, event: JsonObject) -> bool:
        """An event of version 1."""
        kind = event.get("kind")
        if kind == "SystemPromptEvent":
            parts: list[Json] = [event.get("system_prompt"), event.get("dynamic_context")]
            self._system(place, _parts([part for part in parts if part is not None]), event.get("tools"))
        elif kind == "MessageEvent":
            message = members(event.get("llm_message"))
            content = _parts([*listed(message.get("content")), *listed(event.get("extended_content"))])
            self.turns.append(Turn(place, {"role": message.get("role"), "content": content}))
        elif kind == "ActionEvent":
            self._call(place, event)
        elif kind == "ObservationEvent":
            seen = members(event.get("observation"))
            content = seen.get("content", seen.get("output"))
            told = _parts(content) if isinstance(content, list) else content
            self._result(
                place, event, dumps(seen).decode() if told is None else told, failed=seen.get("is_error") is True
            )
        elif kind == "AgentErrorEvent":
            self._result(place, event, event.get("error"), failed=True)
        elif kind == "UserRejectObservation":
            self._result(place, event, f"Action rejected: {event.get('rejection_reason')}", failed=True)
        elif kind == "Condensation":
            self._condensed(place)
        else:
            return False
        return True

    def _call(self, place: str, event: JsonObject) -> None:
        given = members(event.get("tool_call"))
        function = members(given.get("function")) or given
        call = tool_call(
            event.get("tool_call_id"), function.get("name") or event.get("tool_name"), function.get("arguments")
        )
        id_ = id_of(event.get("llm_response_id")) or place
        position = self._replies.get(id_)
        if position is not None:
            turn = self.turns[position]
            message: JsonObject = {**turn.message, "tool_calls": [*listed(turn.message.get("tool_calls")), call]}
            self.turns[position] = replace(turn, message=message)
            return
        self._replies[id_] = len(self.turns)
        message = {"role": "assistant", "content": _parts(event.get("thought")) or None, "tool_calls": [call]}
        thinking = listed(event.get("thinking_blocks"))
        if thinking:
            message["thinking_blocks"] = thinking
        sealed = thinking or event.get("responses_reasoning_item") or event.get("reasoning_content")
        self.turns.append(Turn(place, message, loses=("reasoning",) if sealed else ()))


def _asked(args: JsonObject) -> Json:
    images: list[Json] = [{"type": "image_url", "image_url": {"url": url}} for url in listed(args.get("image_urls"))]
    return [{"type": "text", "text": args.get("content")}, *images] if images else args.get("content")


def _parts(content: Json) -> Json:
    """The parts of a message; one text stays a text."""
    parts: list[Json] = []
    for _, part in objects(content):
        if part.get("type") == "image":
            parts.extend({"type": "image_url", "image_url": {"url": url}} for url in listed(part.get("image_urls")))
        else:
            parts.append({"type": "text", "text": part.get("text")})
    only = members(parts[0]).get("text") if len(parts) == 1 else None
    return only if isinstance(only, str) else parts
