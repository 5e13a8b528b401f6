"""Model calls from one conversation in the shape of chat completions: each was sent what stands before its reply."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .. import canon
from ..trace.fidelity import Label
from ..wire.bodies import objects
from ..wire.reading import id_of, members, parsed
from ..wire.values import Json, JsonObject
from .imported import ImportedCall, ImportedEvent, ImportedTool
from .lost import lost_in
from .shapes import output_items, shaped


@dataclass(frozen=True, slots=True)
class Setting:
    """What a source tells of all calls of a conversation."""

    api: str = "chat.completions"
    provider: str = "openai"
    endpoint: str | None = None
    model: str | None = None
    tools: Json = None
    """In the shape of the API."""
    params: JsonObject = field(default_factory=dict[str, "Json"])
    missing: tuple[str, ...] = ()
    """Parts of every request that the source does not hold."""
    why: str | None = None
    """What else there is to know about how the requests were put together."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message, with what the source tells of the call that it is the reply of."""

    place: str
    message: JsonObject
    by_model: bool = True
    """False for a message of the assistant's that no call in this source brought."""
    reply: Json = None
    """The whole response, where the source holds it."""
    sent: JsonObject | None = None
    """The whole request, where the source holds it; otherwise it is put together."""
    setting: Setting | None = None
    """Where this call differs from the conversation's."""
    finish: str | None = None
    started: float | None = None
    latency_ms: float | None = None
    error: str | None = None
    """Of the tool run that this message is the result of."""
    tool: str | None = None
    """The tool whose result this message is, where the message itself does not name it."""
    loses: tuple[str, ...] = ()
    """Parts of this message that the source does not hold, and that later requests had."""
    sees: tuple[JsonObject, ...] = ()
    """Messages sent with this call only, put in front."""


def conversation(turns: Iterable[Turn], setting: Setting) -> tuple[ImportedEvent, ...]:
    """Every model call and tool run, in order."""
    told = _Told(setting)
    for turn in turns:
        told.take(turn)
    return tuple(told.events)


@dataclass(frozen=True, slots=True)
class _Asked:
    name: str
    arguments: Json
    id: str | None


class _Told:
    def __init__(self, setting: Setting) -> None:
        self.events: list[ImportedEvent] = []
        self._setting = setting
        self._before: list[JsonObject] = []
        self._lost: set[str] = set()
        self._asked: list[_Asked] = []
        """Calls of the last turn that have no result yet."""

    def take(self, turn: Turn) -> None:
        role = turn.message.get("role")
        if role == "assistant":
            if turn.by_model:
                self.events.append(self._call(turn))
            self._asked = list(_asked(turn.message))
        elif role in ("tool", "function"):
            self.events.append(self._tool(turn))
        self._before.append(turn.message)
        self._lost.update(turn.loses, lost_in(turn.message))

    def _call(self, turn: Turn) -> ImportedCall:
        setting = turn.setting or self._setting
        if self._asked:
            self._lost.add("results of tool calls")
        missing = tuple(dict.fromkeys((*setting.missing, *sorted(self._lost))))
        body = turn.sent if turn.sent is not None else _body(setting, [*turn.sees, *self._before])
        if turn.sent is not None:
            missing = lost_in(turn.sent)
        whole: Label = "exact" if turn.sent is not None else "rebuilt"
        return ImportedCall(
            place=turn.place,
            api=setting.api,
            provider=setting.provider,
            endpoint=setting.endpoint,
            body=body,
            reply=turn.reply if turn.reply is not None else _reply(setting, turn),
            fidelity="partial" if missing else whole,
            missing=missing,
            why=setting.why,
            started=turn.started,
            latency_ms=turn.latency_ms,
        )

    def _tool(self, turn: Turn) -> ImportedTool:
        call_id = id_of(turn.message.get("tool_call_id"))
        asked = next((one for one in self._asked if call_id is not None and one.id == call_id), None)
        if asked is None:
            asked = next((one for one in self._asked if one.id is None or call_id is None), None)
        if asked is not None:
            self._asked.remove(asked)
        named = turn.tool or id_of(turn.message.get("name"))
        return ImportedTool(
            place=turn.place,
            name=named or (asked.name if asked is not None else "unknown"),
            arguments=asked.arguments if asked is not None else None,
            result=turn.message.get("content"),
            error=None if turn.error is None else {"message": turn.error},
            call_id=call_id,
            started=turn.started,
            latency_ms=turn.latency_ms,
        )


def _body(setting: Setting, messages: list[JsonObject]) -> JsonObject:
    body: JsonObject = {} if setting.model is None else {"model": setting.model}
    body |= shaped(setting.api, messages)
    if setting.tools is not None:
        body["tools"] = setting.tools
    return {**body, **setting.params}


def _reply(setting: Setting, turn: Turn) -> JsonObject:
    head: JsonObject = {} if setting.model is None else {"model": setting.model}
    if setting.api == "messages":
        said = shaped("messages", [turn.message]).get("messages")
        first = members(said[0]) if isinstance(said, list) and said else {}
        return {**head, "type": "message", "role": "assistant", "stop_reason": turn.finish, **first}
    if setting.api == "responses":
        return {**head, "object": "response", "output": output_items(turn.message)}
    choice: JsonObject = {"index": 0, "message": turn.message, "finish_reason": turn.finish}
    return {**head, "choices": [choice]}


def _asked(message: JsonObject) -> Iterable[_Asked]:
    for _, call in objects(message.get("tool_calls")):
        function = members(call.get("function") or call.get("custom"))
        name = function.get("name")
        text = function.get("arguments", function.get("input"))
        value = parsed(text) if isinstance(text, str) else text
        yield _Asked(
            name if isinstance(name, str) else "unknown", text if value is None else value, id_of(call.get("id"))
        )
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        text = legacy.get("arguments")
        value = parsed(text) if isinstance(text, str) else text
        name = legacy.get("name")
        yield _Asked(name if isinstance(name, str) else "unknown", text if value is None else value, None)


def tool_call(id_: Json, name: Json, arguments: Json) -> JsonObject:
    """One tool call as chat completions spell it; arguments that are no text are written as JSON."""
    text = arguments if isinstance(arguments, str) else canon.dumps({} if arguments is None else arguments).decode()
    function: JsonObject = {"name": name if isinstance(name, str) else "unknown", "arguments": text}
    return {"id": id_ if isinstance(id_, str) else "", "type": "function", "function": function}


def logged_response(api: str, text: str | None, calls: list[JsonObject], finish: str | None) -> JsonObject:
    """A response body of `api` that says `text` and asks for `calls`, objects of `id`, `name` and `arguments`."""
    message: JsonObject = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [tool_call(call.get("id"), call.get("name"), call.get("arguments")) for call in calls]
    return _reply(Setting(api=api), Turn("", message, finish=finish))
