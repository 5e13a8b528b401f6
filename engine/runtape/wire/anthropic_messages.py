"""Anthropic Messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .. import canon
from .anthropic_events import events
from .anthropic_stream import assemble
from .bodies import Keys, listed, objects, put_together, sent_again, take_apart
from .content import PARAGRAPH, Place, joined, kind_of, media, texts, with_text
from .definitions import described
from .dialect import Assembled, UnreadableReply
from .editing import put
from .pairing import Pairing
from .reading import answer_in, call_of, count, id_of, members, spelled, stop_of, text_or_none
from .values import Json, JsonObject, Parts, Reply, Slot, ToolCall, Usage

_KEYS = Keys(messages="messages", system="system")

_CALLS = ("tool_use", "mcp_tool_use")
"""Blocks that call one of the user's tools. A `server_tool_use` is a step of the provider's own answer."""

_RESULTS = ("tool_result", "mcp_tool_result")

_THOUGHT = ("thinking", "redacted_thinking")


class AnthropicMessages:
    """`POST /v1/messages`.

    Slots come as: the texts of `system`, the messages' blocks in order, then the descriptions of tools. Thinking is one
    where the API lets it go: in turns before the last message of the user without a tool result. The blocks of server
    tools are no slots: they are encrypted, and come back as they were.
    """

    api: str = "messages"
    path: str = "/v1/messages"

    def split(self, body: JsonObject) -> Parts:
        """See `Dialect`."""
        return take_apart(body, _KEYS)

    def join(self, parts: Parts) -> JsonObject:
        """See `Dialect`."""
        return put_together(parts, _KEYS)

    def slots(self, body: JsonObject) -> list[Slot]:
        """See `Dialect`."""
        found = list(texts(body.get("system"), Place(("system",), "system", -1)))
        pairing = Pairing()
        messages = objects(body.get("messages"))
        turn = max((index for index, message in messages if _is_asked(message)), default=-1)
        for index, message in messages:
            found.extend(_message(message, index, pairing, thinks=index > turn))
        for index, tool in objects(body.get("tools")):
            found.extend(described(tool, ("tools", index), index))
        return found

    def put(self, body: JsonObject, slot: Slot, text: str) -> JsonObject:
        """See `Dialect`."""
        return put(body, slot, text)

    def system_text(self, body: JsonObject) -> str | None:
        """See `Dialect`."""
        return joined(body.get("system"), PARAGRAPH)

    def with_system(self, body: JsonObject, text: str) -> JsonObject:
        """See `Dialect`; blocks become one block, which keeps a `cache_control`."""
        return {**body, "system": with_text(body.get("system"), text)}

    def replies(self, body: Json) -> list[Reply]:
        """See `Dialect`; one message is one answer."""
        answer = answer_in(body)
        content = answer.get("content")
        if not isinstance(content, list):
            raise UnreadableReply(f"the message's content is {spelled(content)}, not a list")
        said = [text for _, block in objects(content) if isinstance(text := _text(block), str)]
        text = "".join(said) if said else None
        reason = answer.get("stop_reason")
        stop = stop_of(reason)
        return [
            Reply(
                text=text,
                tool_calls=tuple(_tool_call(block) for _, block in objects(content) if block.get("type") in _CALLS),
                refusal=_refusal(answer, text) if stop == "refusal" else None,
                stop=stop,
                stop_reason=text_or_none(reason),
                model=text_or_none(answer.get("model")),
                id=text_or_none(answer.get("id")),
                usage=_usage(answer.get("usage")),
            )
        ]

    def assemble(self, events: Iterable[Json]) -> Assembled:
        """See `Dialect`."""
        return assemble(events)

    def streamed(self, body: JsonObject, *, complete: bool) -> list[Json]:
        """See `Dialect`."""
        return events(body, complete=complete)

    def for_rerun(self, body: JsonObject) -> tuple[JsonObject, tuple[str, ...]]:
        """See `Dialect`."""
        return sent_again(body)

    def with_samples(self, body: JsonObject, n: int) -> JsonObject | None:  # noqa: ARG002 -- as in `Dialect`
        """See `Dialect`; there is no such parameter."""
        return None


def _is_asked(message: JsonObject) -> bool:
    """True for a message that starts a turn: one of the user's, without the result of a tool."""
    content = objects(message.get("content"))
    return message.get("role") == "user" and all(block.get("type") not in _RESULTS for _, block in content)


def _message(message: JsonObject, index: int, pairing: Pairing, *, thinks: bool) -> Iterator[Slot]:
    """`thinks`: the message belongs to the turn that goes on, whose thinking the API demands back."""
    place = Place(("messages", index, "content"), kind_of(message), index)
    content = message.get("content")
    if isinstance(content, str):
        yield place.slot(0, content)
    for block, part in enumerate(listed(content)):
        item = members(part)
        type_, id_ = item.get("type"), id_of(item.get("id"))
        if type_ in _RESULTS:
            call_id = id_of(item.get("tool_use_id"))
            result = Place((*place.path, block, "content"), "tool_result", index, pairing.result(call_id), call_id)
            yield from texts(item.get("content"), result, block)
        elif type_ in _CALLS:
            name = text_or_none(item.get("name"))
            if name is not None:
                pairing.call(id_, name)
            yield from _arguments(item.get("input"), place, block, name, id_)
        elif type_ in _THOUGHT:
            others = any(members(other).get("type") not in _THOUGHT for other in listed(content))
            if others and not thinks:
                thought = text_or_none(item.get("thinking")) or "thinking that only the provider can read"
                yield place.at(block).slot(block, thought, "reasoning")
        else:
            yield from _own(item, place, block)


def _arguments(given: Json, place: Place, block: int, tool: str | None, id_: str | None) -> Iterator[Slot]:
    path = (*place.path, block, "input")
    # `input` is an object, or the text that a stream brought in place of one.
    if isinstance(given, str):
        yield Slot(path, "tool_arguments", place.message, block, given, tool, id_)
    elif isinstance(given, dict):
        text = canon.dumps(given).decode()
        yield Slot(path, "tool_arguments", place.message, block, text, tool, id_, "json")


def _own(item: JsonObject, place: Place, block: int) -> Iterator[Slot]:
    text, type_ = _text(item), item.get("type")
    if text is not None:
        yield place.at(block, "text").slot(block, text)
    elif type_ == "search_result":
        yield from texts(item.get("content"), place.at(block, "content"), block)
    elif isinstance(type_, str) and type_ in {"image", "document", "container_upload"}:
        yield from media(item, type_, place.at(block), block)


def _text(block: JsonObject) -> str | None:
    return text_or_none(block.get("text")) if block.get("type") == "text" else None


def _tool_call(block: JsonObject) -> ToolCall:
    # `input` is an object, or the text that a stream brought in place of one.
    return call_of(block.get("name"), block.get("input", {}), block.get("id"))


def _refusal(answer: JsonObject, text: str | None) -> str:
    """The provider's explanation, else what the model said, else the provider's word for it."""
    explanation = members(answer.get("stop_details")).get("explanation")
    return explanation if isinstance(explanation, str) and explanation else text or "refusal"


def _usage(usage: Json) -> Usage:
    tokens = members(usage)
    fresh = count(tokens.get("input_tokens"))
    cached = count(tokens.get("cache_read_input_tokens"))
    written = count(tokens.get("cache_creation_input_tokens"))
    # This API counts tokens of the prompt cache apart from `input_tokens`; elsewhere they are part of the input.
    return Usage(
        input=None if fresh is None else fresh + (cached or 0) + (written or 0),
        output=count(tokens.get("output_tokens")),
        cached=cached,
    )
