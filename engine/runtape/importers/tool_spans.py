"""Runs of tools that are spans, in the words of every convention."""

from __future__ import annotations

from .imported import ImportedTool
from .span import Span, first_of
from .unpacked import unpacked


def tool_in(span: Span) -> ImportedTool | None:
    """The run of a tool that a span is; None when it is none."""
    attributes = span.attributes
    name = attributes.get("gen_ai.tool.name") or attributes.get("tool.name") or attributes.get("ai.toolCall.name")
    if attributes.get("traceloop.span.kind") == "tool":
        name = name or attributes.get("traceloop.entity.name")
    is_tool = (
        attributes.get("gen_ai.operation.name") == "execute_tool"
        or attributes.get("openinference.span.kind") == "TOOL"
        or attributes.get("traceloop.span.kind") == "tool"
        or "ai.toolCall.name" in attributes
    )
    if not is_tool:
        return None
    given = first_of(attributes, "gen_ai.tool.call.arguments", "tool.parameters", "input.value", "ai.toolCall.args")
    result = first_of(attributes, "gen_ai.tool.call.result", "output.value", "ai.toolCall.result")
    if attributes.get("traceloop.span.kind") == "tool":
        given = given if given is not None else attributes.get("traceloop.entity.input")
        result = result if result is not None else attributes.get("traceloop.entity.output")
    call_id = first_of(attributes, "gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id", "tool.id")
    return ImportedTool(
        place=span.place,
        name=name if isinstance(name, str) else span.name,
        arguments=unpacked(given),
        result=result,
        error=span.failure,
        call_id=call_id if isinstance(call_id, str) and call_id else None,
        started=span.started,
        latency_ms=span.latency_ms,
    )
