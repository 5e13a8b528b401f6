"""Model calls from one list of Responses items: each call was sent what stands before its output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from ..wire.bodies import objects
from ..wire.reading import id_of, members, parsed, text_or_none
from ..wire.values import Json, JsonObject
from .conversation import Setting, Turn, conversation, tool_call
from .imported import ImportedCall, ImportedEvent, ImportedTool
from .lost import lost_in

_CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input", "local_shell_call": "action"}
"""Types of tool call that the client runs, and the key of what the tool is given."""
_BY_SERVER: Final = (
    "reasoning",
    "web_search_call",
    "file_search_call",
    "image_generation_call",
    "code_interpreter_call",
    "computer_call",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "tool_search_call",
)


@dataclass(frozen=True, slots=True)
class Item:
    """One item and where it stands."""

    place: str
    value: JsonObject
    at: float | None = None
    closes: bool = True
    """False when a tool's result in front of it does not mean that a new call had begun."""


@dataclass(slots=True)
class Exchange:
    """What one call was sent and what it brought."""

    before: list[Item]
    output: list[Item] = field(default_factory=list[Item])


def is_output(item: JsonObject) -> bool:
    """True for an item that a model brought."""
    kind = item.get("type")
    if kind in (*_CALLS, *_BY_SERVER):
        return True
    return kind in ("message", None) and item.get("role") == "assistant"


def exchanges(items: Iterable[Item]) -> Iterator[Exchange]:
    """The calls of a list of items.

    Items that a model brought belong to one call up to the next item that it was given. The results of parallel calls
    may stand between them: then `Item.closes` of the later ones is false.
    """
    past: list[Item] = []
    current: Exchange | None = None
    given = False
    for item in items:
        if is_output(item.value):
            if current is None or (given and item.closes):
                if current is not None:
                    yield current
                current = Exchange(list(past))
            current.output.append(item)
            given = False
        else:
            given = True
            if current is not None and not _is_result(item.value):
                yield current
                current = None
        past.append(item)
    if current is not None:
        yield current


def item_events(items: list[Item], setting: Setting) -> Iterator[ImportedEvent]:
    """Every model call and tool run, in order; in the API of `setting`, `responses` or `chat.completions`."""
    if setting.api != "responses":
        yield from conversation(chat_turns(items), setting)
        return
    answers = {id_of(item.value.get("call_id")): item for item in items if _is_result(item.value)}
    asked: set[str] = set()
    for exchange in exchanges(items):
        yield _call(exchange, setting)
        for item in exchange.output:
            if item.value.get("type") in tuple(_CALLS):
                id_ = id_of(item.value.get("call_id")) or id_of(item.value.get("id"))
                asked.add(id_ or "")
                if (answer := answers.get(id_)) is not None and id_ is not None:
                    yield _tool(item, answer)
    for item in items:
        if _is_result(item.value) and (id_of(item.value.get("call_id")) or "") not in asked:
            yield _tool(None, item)


def _is_result(item: JsonObject) -> bool:
    return str(item.get("type")).endswith("_output")


def _call(exchange: Exchange, setting: Setting) -> ImportedCall:
    sent: list[Json] = [item.value for item in exchange.before]
    missing = tuple(dict.fromkeys((*setting.missing, *lost_in(sent))))
    body: JsonObject = {} if setting.model is None else {"model": setting.model}
    body["input"] = sent
    if setting.tools is not None:
        body["tools"] = setting.tools
    first, last = exchange.output[0], exchange.output[-1]
    head: JsonObject = {} if setting.model is None else {"model": setting.model}
    return ImportedCall(
        place=first.place if first is last else f"{first.place} to {last.place}",
        api=setting.api,
        provider=setting.provider,
        endpoint=setting.endpoint,
        body={**body, **setting.params},
        reply={**head, "object": "response", "output": [item.value for item in exchange.output]},
        fidelity="partial" if missing else "rebuilt",
        missing=missing,
        why=setting.why,
        started=first.at,
    )


def _tool(call: Item | None, answer: Item) -> ImportedTool:
    asked = {} if call is None else call.value
    kind = str(asked.get("type"))
    given = asked.get(_CALLS.get(kind, ""))
    value = parsed(given) if isinstance(given, str) and kind == "function_call" else given
    return ImportedTool(
        place=answer.place,
        name=text_or_none(asked.get("name")) or ("local_shell" if kind == "local_shell_call" else "unknown"),
        arguments=given if value is None else value,
        result=answer.value.get("output"),
        call_id=id_of(answer.value.get("call_id")),
        started=answer.at,
    )


def chat_turns(items: list[Item]) -> Iterator[Turn]:
    """The items as the messages of chat completions, which they were made from."""
    for exchange_or_item in _chat_steps(items):
        if isinstance(exchange_or_item, Item):
            yield _chat_given(exchange_or_item)
        else:
            yield _chat_reply(exchange_or_item)


def _chat_steps(items: list[Item]) -> Iterator[Item | list[Item]]:
    group: list[Item] = []
    for item in items:
        if is_output(item.value):
            group.append(item)
            continue
        if group:
            yield group
            group = []
        yield item
    if group:
        yield group


def _chat_reply(group: list[Item]) -> Turn:
    said = [text for item in group for text in _texts(item.value) if item.value.get("type") != "reasoning"]
    calls: list[Json] = [
        tool_call(item.value.get("call_id"), item.value.get("name"), item.value.get("arguments"))
        for item in group
        if item.value.get("type") == "function_call"
    ]
    message: JsonObject = {"role": "assistant", "content": "".join(said) if said else None}
    if calls:
        message["tool_calls"] = calls
    loses = ("reasoning",) if any(item.value.get("type") == "reasoning" for item in group) else ()
    return Turn(group[0].place, message, started=group[0].at, loses=loses)


def _chat_given(item: Item) -> Turn:
    if _is_result(item.value):
        result: JsonObject = {"role": "tool", "tool_call_id": item.value.get("call_id")}
        return Turn(item.place, {**result, "content": item.value.get("output")}, started=item.at)
    content = item.value.get("content")
    return Turn(item.place, {"role": item.value.get("role"), "content": _chat_content(content)}, started=item.at)


def _chat_content(content: Json) -> Json:
    if not isinstance(content, list):
        return content
    parts: list[Json] = []
    for part in content:
        told = members(part)
        if told.get("type") == "input_text":
            parts.append({"type": "text", "text": told.get("text")})
        elif told.get("type") == "input_image" and "image_url" in told:
            image: JsonObject = {"url": told["image_url"]}
            parts.append({"type": "image_url", "image_url": {**image, "detail": told.get("detail", "auto")}})
        else:
            parts.append(part)
    return parts


def _texts(item: JsonObject) -> list[str]:
    content = item.get("content")
    if isinstance(content, str):
        return [content]
    return [text for _, part in objects(content) if isinstance(text := part.get("text", part.get("refusal")), str)]
