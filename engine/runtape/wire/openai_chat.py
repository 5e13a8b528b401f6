"""OpenAI chat completions, the API that most other servers speak as well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .. import canon
from .bodies import Keys, listed, objects, put_together, sent_again, take_apart
from .content import PARAGRAPH, Place, blocks, joined, kind_of, system_message, texts, with_system_message
from .definitions import described
from .dialect import Assembled, UnreadableReply
from .editing import put
from .openai_chat_chunks import chunks
from .openai_chat_stream import assemble
from .pairing import Pairing
from .reading import answer_in, call_of, count, id_of, members, spelled, stop_of, text_or_none, told
from .values import Json, JsonObject, Parts, Path, Reply, Slot, ToolCall, Usage

_KEYS = Keys(messages="messages")

_CALL_TEXT = {"function": "arguments", "custom": "input"}
"""Kinds of tool call, and the key of the text that the tool is given."""


_REASONING = ("reasoning_content", "reasoning")
"""Keys under which servers other than OpenAI's return, and take back, what the model thought."""


class OpenAIChat:
    """`POST /chat/completions`.

    The system prompt is the first message of role system or developer; later ones are messages like any other.
    Slots come as: texts and tool arguments of the messages in order, then the descriptions of tools. Reasoning that a
    server takes back as a text is one in the turns before the user's last message; later servers may demand it.
    """

    api: str = "chat.completions"
    path: str = "/chat/completions"

    def split(self, body: JsonObject) -> Parts:
        """See `Dialect`."""
        return take_apart(body, _KEYS)

    def join(self, parts: Parts) -> JsonObject:
        """See `Dialect`; a system prompt outside the messages, of a call logged by hand, becomes the first message."""
        return put_together(parts, _KEYS)

    def slots(self, body: JsonObject) -> list[Slot]:
        """See `Dialect`."""
        found: list[Slot] = []
        pairing = Pairing()
        messages = objects(body.get("messages"))
        turn = max((index for index, message in messages if message.get("role") == "user"), default=-1)
        for index, message in messages:
            found.extend(_message(message, index, pairing, thinks=index > turn))
        for index, tool in objects(body.get("tools")):
            for type_ in _CALL_TEXT:
                found.extend(described(members(tool.get(type_)), ("tools", index, type_), index))
        for index, function in objects(body.get("functions")):
            found.extend(described(function, ("functions", index), index))
        return found

    def put(self, body: JsonObject, slot: Slot, text: str) -> JsonObject:
        """See `Dialect`."""
        return put(body, slot, text)

    def system_text(self, body: JsonObject) -> str | None:
        """See `Dialect`."""
        found = system_message(body.get("messages"))
        return None if found is None else joined(found[1].get("content"), PARAGRAPH)

    def with_system(self, body: JsonObject, text: str) -> JsonObject:
        """See `Dialect`."""
        return {**body, "messages": with_system_message(body.get("messages"), text)}

    def replies(self, body: Json) -> list[Reply]:
        """See `Dialect`."""
        answer = answer_in(body)
        choices = answer.get("choices")
        if not isinstance(choices, list) or not choices:
            raise UnreadableReply("the response has no choices")
        return [_reply(choice, answer) for choice in choices]

    def assemble(self, events: Iterable[Json]) -> Assembled:
        """See `Dialect`."""
        return assemble(events)

    def streamed(self, body: JsonObject, *, complete: bool) -> list[Json]:
        """See `Dialect`."""
        return chunks(body, complete=complete)

    def for_rerun(self, body: JsonObject) -> tuple[JsonObject, tuple[str, ...]]:
        """See `Dialect`."""
        return sent_again(body)

    def with_samples(self, body: JsonObject, n: int) -> JsonObject | None:
        """See `Dialect`; one answer is asked for without `n`, which not every server takes."""
        return dict(body) if n == 1 and "n" not in body else {**body, "n": n}


def _message(message: JsonObject, index: int, pairing: Pairing, *, thinks: bool) -> Iterator[Slot]:
    kind = kind_of(message)
    path = ("messages", index)
    content = message.get("content")
    if kind == "tool_result":
        call_id = id_of(message.get("tool_call_id"))
        tool = pairing.result(call_id) or id_of(message.get("name"))
        yield from texts(content, Place((*path, "content"), kind, index, tool, call_id))
        return
    yield from texts(content, Place((*path, "content"), kind, index))
    block = blocks(content)
    refusal = message.get("refusal")
    if isinstance(refusal, str):
        yield Place((*path, "refusal"), kind, index).slot(block, refusal)
        block += 1
    for at, (call_path, named, text, id_) in enumerate(_calls(message, path)):
        name = text_or_none(named)
        if name is not None:
            pairing.call(id_, name)
        if isinstance(text, str):
            yield Slot(call_path, "tool_arguments", index, block + at, text, name, id_)
        elif isinstance(text, dict):  # some servers take the object itself
            spelling = canon.dumps(text).decode()
            yield Slot(call_path, "tool_arguments", index, block + at, spelling, name, id_, "json")
    for key in () if thinks else _REASONING:
        thought = message.get(key)
        if isinstance(thought, str):
            yield Place((*path, key), kind, index).slot(block, thought, "reasoning")


def _calls(message: JsonObject, path: Path) -> Iterator[tuple[Path, Json, Json, str | None]]:
    """Path of the arguments, tool, arguments and id of each call."""
    for index, call in objects(message.get("tool_calls")):
        for type_, key in _CALL_TEXT.items():
            named = call.get(type_)
            if isinstance(named, dict):
                at = (*path, "tool_calls", index, type_, key)
                yield at, named.get("name"), named.get(key), id_of(call.get("id"))
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        yield (*path, "function_call", "arguments"), legacy.get("name"), legacy.get("arguments"), None


def _reply(choice: Json, answer: JsonObject) -> Reply:
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise UnreadableReply(f"a choice holds {spelled(message)} in place of a message")
    if choice.get("error"):  # a router's upstream failed after the response had begun
        raise UnreadableReply(f"a choice is an error: {told(choice.get('error'))}")
    content = message.get("content")
    if not isinstance(content, (str, list, type(None))):
        raise UnreadableReply(f"the message's content is {spelled(content)}, not text")
    refusal = text_or_none(message.get("refusal")) or None
    reason = choice.get("finish_reason")
    return Reply(
        text=content if isinstance(content, str) else _text(content),
        tool_calls=_tool_calls(message),
        refusal=refusal,
        stop="refusal" if refusal else stop_of(reason),
        stop_reason=text_or_none(reason),
        model=text_or_none(answer.get("model")),
        id=text_or_none(answer.get("id")),
        usage=_usage(answer.get("usage")),
    )


def _text(content: Json) -> str | None:
    said = [text for _, part in objects(content) if isinstance(text := part.get("text"), str)]
    return "".join(said) if said else None


def _tool_calls(message: JsonObject) -> tuple[ToolCall, ...]:
    calls = message.get("tool_calls")
    if not isinstance(calls, (list, type(None))):
        raise UnreadableReply(f"the message's tool calls are {spelled(calls)}, not a list")
    found = [_tool_call(call) for call in listed(calls)]
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        found.append(call_of(legacy.get("name"), legacy.get("arguments", ""), None))
    return tuple(found)


def _tool_call(call: Json) -> ToolCall:
    for type_, key in _CALL_TEXT.items():
        named = call.get(type_) if isinstance(call, dict) else None
        if isinstance(call, dict) and isinstance(named, dict):
            return call_of(named.get("name"), named.get(key, ""), call.get("id"))
    raise UnreadableReply(f"a tool call is {spelled(call)} that names no function")


def _usage(usage: Json) -> Usage:
    tokens = members(usage)
    details = members(tokens.get("prompt_tokens_details"))
    return Usage(
        input=count(tokens.get("prompt_tokens")),
        output=count(tokens.get("completion_tokens")),
        cached=count(details.get("cached_tokens")),
    )
