"""OpenAI Responses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .bodies import Keys, objects, put_together, sent_again, take_apart
from .content import PARAGRAPH, Place, joined, kind_of, system_message, texts, with_system_message
from .definitions import described
from .dialect import Assembled, UnreadableReply
from .editing import put
from .openai_responses_events import events
from .openai_responses_stream import assemble
from .pairing import Pairing
from .reading import answer_in, call_of, count, id_of, members, spelled, stop_of, text_or_none
from .values import Json, JsonObject, Parts, Reply, Slot, Stop, ToolCall, Usage

_KEYS = Keys(messages="input", system="instructions", text_input=True)

_CALL_TEXT = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "mcp_call": "arguments",
    "mcp_approval_request": "arguments",
}
"""Items that call a tool by name, and the key of the text that the tool is given."""

_BUILT_IN = {
    "computer_call": ("computer", "actions", "action"),
    "local_shell_call": ("local_shell", "action"),
    "shell_call": ("shell", "action"),
    "apply_patch_call": ("apply_patch", "operation"),
}
"""Items by which the model acts on the caller's machine: the tool's name, and the keys of what it is to do."""

_RESULT_TEXT = {
    "function_call_output": "output",
    "custom_tool_call_output": "output",
    "local_shell_call_output": "output",
    "shell_call_output": "output",
    "apply_patch_call_output": "output",
    "program_output": "result",
}
"""Items that bring a tool's result, and its key."""


class OpenAIResponses:
    """`POST /responses`.

    The system prompt is `instructions`; in a body without any, the first input message of role system or developer.
    Slots come as: `instructions`, the items' texts and tool arguments in order, then the descriptions of tools. Calls
    that the provider runs for its own answer, such as a web search, are no tool calls; those of an MCP server are.
    """

    api: str = "responses"
    path: str = "/responses"

    def split(self, body: JsonObject) -> Parts:
        """See `Dialect`; an `input` that is one string is the only message."""
        return take_apart(body, _KEYS)

    def join(self, parts: Parts) -> JsonObject:
        """See `Dialect`."""
        return put_together(parts, _KEYS)

    def slots(self, body: JsonObject) -> list[Slot]:
        """See `Dialect`."""
        found = list(texts(body.get("instructions"), Place(("instructions",), "system", -1)))
        given = body.get("input")
        if isinstance(given, str):
            found.append(Place(("input",), "user", 0).slot(0, given))
        pairing = Pairing()
        for index, item in objects(given):
            found.extend(_item(item, index, pairing))
        for index, tool in objects(body.get("tools")):
            found.extend(_definitions(tool, index))
        return found

    def put(self, body: JsonObject, slot: Slot, text: str) -> JsonObject:
        """See `Dialect`."""
        return put(body, slot, text, "input_text")

    def system_text(self, body: JsonObject) -> str | None:
        """See `Dialect`."""
        instructions = body.get("instructions")
        if isinstance(instructions, str):
            return instructions
        found = system_message(body.get("input"))
        return None if found is None else joined(found[1].get("content"), PARAGRAPH)

    def with_system(self, body: JsonObject, text: str) -> JsonObject:
        """See `Dialect`."""
        if body.get("instructions") is None and system_message(body.get("input")) is not None:
            return {**body, "input": with_system_message(body.get("input"), text)}
        return {**body, "instructions": text}

    def replies(self, body: Json) -> list[Reply]:
        """See `Dialect`; one response is one answer."""
        answer = answer_in(body)
        output = answer.get("output")
        if not isinstance(output, list):
            raise UnreadableReply(f"the response's output is {spelled(output)}, not a list")
        if answer.get("status") == "failed":
            raise UnreadableReply("the response failed without saying why")
        calls = tuple(call for _, item in objects(output) for call in _tool_call(item))
        said = [part for _, item in objects(output) if item.get("type") == "message" for part in _said(item)]
        refusals = [text for type_, text in said if type_ == "refusal"]
        answers = [text for type_, text in said if type_ != "refusal"]
        reason = members(answer.get("incomplete_details")).get("reason") or answer.get("status")
        return [
            Reply(
                text="".join(answers) if answers else None,
                tool_calls=calls,
                refusal="".join(refusals) or None,
                stop=_stop(answer, reason, refused=bool(refusals), called=bool(calls)),
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
        return sent_again(body, also=("background",))

    def with_samples(self, body: JsonObject, n: int) -> JsonObject | None:  # noqa: ARG002 -- as in `Dialect`
        """See `Dialect`; there is no such parameter."""
        return None


def _item(item: JsonObject, index: int, pairing: Pairing) -> Iterator[Slot]:
    type_, path = item.get("type"), ("input", index)
    call_id = id_of(item.get("call_id")) or id_of(item.get("id"))
    if not isinstance(type_, str) or type_ == "message":
        yield from texts(item.get("content"), Place((*path, "content"), kind_of(item), index))
    elif type_ in _RESULT_TEXT:
        key = _RESULT_TEXT[type_]
        tool = pairing.result(call_id) or id_of(item.get("name"))
        place = Place((*path, key), "tool_result", index, tool, call_id)
        yield from texts(item.get(key), place)
        if type_ == "shell_call_output":
            yield from _captured(item.get(key), place)
    elif type_ in _CALL_TEXT:
        name, text = item.get("name"), item.get(_CALL_TEXT[type_])
        tool = text_or_none(name)
        if isinstance(text, str):
            yield Slot((*path, _CALL_TEXT[type_]), "tool_arguments", index, 0, text, tool, call_id)
        if type_ == "mcp_call":
            yield from texts(item.get("output"), Place((*path, "output"), "tool_result", index, tool, call_id), 1)
        elif tool is not None and type_ != "mcp_approval_request":
            pairing.call(call_id, tool)
    elif type_ in _BUILT_IN:
        pairing.call(call_id, _BUILT_IN[type_][0])


def _captured(output: Json, place: Place) -> Iterator[Slot]:
    for block, part in objects(output):
        for key in ("stdout", "stderr"):
            text = part.get(key)
            if isinstance(text, str):
                yield place.at(block, key).slot(block, text)


def _definitions(tool: JsonObject, index: int) -> Iterator[Slot]:
    yield from described(tool, ("tools", index), index)
    for at, member in objects(tool.get("tools")):  # of a namespace
        yield from described(member, ("tools", index, "tools", at), index)


def _tool_call(item: JsonObject) -> Iterator[ToolCall]:
    type_ = item.get("type")
    id_ = item.get("call_id") or item.get("id")
    if not isinstance(type_, str):
        return
    if type_ in _CALL_TEXT:
        yield call_of(item.get("name"), item.get(_CALL_TEXT[type_], ""), id_)
    elif type_ in _BUILT_IN:
        name, *keys = _BUILT_IN[type_]
        asked = [item[key] for key in keys if item.get(key) is not None]
        yield call_of(name, asked[0] if asked else {}, id_)


def _said(message: JsonObject) -> Iterator[tuple[Json, str]]:
    for _, part in objects(message.get("content")):
        type_ = part.get("type")
        text = part.get("refusal" if type_ == "refusal" else "text")
        if isinstance(text, str):
            yield type_, text


def _stop(answer: JsonObject, reason: Json, *, refused: bool, called: bool) -> Stop:
    if refused:
        return "refusal"
    stop = stop_of(reason)
    if stop == "other":  # a reason that is not known yet
        stop = stop_of(answer.get("status"))
    if stop != "end":
        return stop
    if any(stop_of(item.get("status")) == "unfinished" for _, item in objects(answer.get("output"))):
        return "unfinished"
    return "tool_calls" if called else stop


def _usage(usage: Json) -> Usage:
    tokens = members(usage)
    details = members(tokens.get("input_tokens_details"))
    return Usage(
        input=count(tokens.get("input_tokens")),
        output=count(tokens.get("output_tokens")),
        cached=count(details.get("cached_tokens")),
    )
