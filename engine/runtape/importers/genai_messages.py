"""The messages of a span in the GenAI convention: attributes, numbered attributes, events of the span, log records."""

from __future__ import annotations

from collections.abc import Iterator

from ..wire.bodies import objects
from ..wire.reading import members
from ..wire.values import Json, JsonObject
from .messages import Heard, heard
from .replies import Choice
from .span import Span, first_of
from .unpacked import nested, unpacked, unpacked_list


def system_of(span: Span) -> list[Json]:
    """The system prompt that stands apart from the messages, as a message; nothing where there is none."""
    system = unpacked(span.attributes.get("gen_ai.system_instructions"))
    if isinstance(system, list) and system:
        return [{"role": "system", "parts": system}]
    return [{"role": "system", "content": system}] if isinstance(system, str) and system else []


def input_of(span: Span) -> Heard:
    """The messages of the request, without a system prompt that stands apart."""
    attributes = span.attributes
    listed = unpacked_list(attributes.get("gen_ai.input.messages"))
    if not listed:
        listed = _flat(attributes, "gen_ai.prompt")
    if not listed:
        listed = list(_of_events(span))
    if not listed:
        listed = unpacked_list(first_of(attributes, "all_messages_events", "pydantic_ai.all_messages"))
    return heard(listed)


def _flat(attributes: JsonObject, prefix: str) -> list[Json]:
    """Messages of OpenLLMetry's numbered attributes."""
    told = nested(attributes, prefix)
    found: list[Json] = []
    for item in told if isinstance(told, list) else unpacked_list(told):
        message = dict(members(item))
        content = unpacked(message.get("content"))
        message["content"] = content if isinstance(content, list) else message.get("content")
        function = members(message.pop("function_call", None))
        if function:
            message["tool_calls"] = [function]
        if message:
            found.append({"role": "assistant" if prefix.endswith("completion") else "user", **message})
    return found


def _of_events(span: Span) -> Iterator[Json]:
    """Messages that are log records or events of the span."""
    for event in span.events:
        role = event.name.removeprefix("gen_ai.").removesuffix(".message")
        if event.name == f"gen_ai.{role}.message" and role in ("system", "user", "assistant", "tool"):
            body = members(unpacked(event.body)) or {key: unpacked(item) for key, item in event.attributes.items()}
            kept: JsonObject = {key: body[key] for key in ("content", "tool_calls") if key in body}
            if not kept:
                continue
            identity = body.get("id") or body.get("tool_call_id")
            named = body.get("role") if isinstance(body.get("role"), str) else role
            yield {"role": named, "content": None, **kept, **({"tool_call_id": identity} if role == "tool" else {})}
        elif event.name == "gen_ai.content.prompt":
            yield from unpacked_list(event.attributes.get("gen_ai.prompt"))


def answers_of(span: Span, api: str) -> list[Choice]:
    """The choices of the reply; what is told in pieces without an end of their own is one."""
    attributes = span.attributes
    listed = unpacked_list(attributes.get("gen_ai.output.messages")) or _flat(attributes, "gen_ai.completion")
    if not listed:
        listed = list(_answers_in_events(span))
    reasons = unpacked_list(attributes.get("gen_ai.response.finish_reasons"))
    found = [
        Choice(message, members(item).get("finish_reason")) for item in listed for message in heard([item]).messages
    ]
    if api == "chat.completions" and found and all(answer.finish is not None for answer in found):
        return found
    calls: list[Json] = [call for answer in found for _, call in objects(answer.message.get("tool_calls"))]
    return [
        Choice(
            {**first.message, "tool_calls": calls} if calls else first.message,
            first.finish or next(iter(reasons), None),
        )
        for first in found[:1]
    ]


def _answers_in_events(span: Span) -> Iterator[Json]:
    for event in span.events:
        body = members(unpacked(event.body)) or {key: unpacked(item) for key, item in event.attributes.items()}
        if event.name == "gen_ai.choice":
            message: JsonObject = {"role": "assistant", "content": None, **members(unpacked(body.get("message")))}
            yield {**message, "finish_reason": body.get("finish_reason")}
        elif event.name == "gen_ai.content.completion":
            yield from unpacked_list(event.attributes.get("gen_ai.completion"))
