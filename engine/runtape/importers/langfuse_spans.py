"""Spans that Langfuse's own SDK exports by OTLP: an observation spelled as attributes."""

from __future__ import annotations

from typing import Final

from ..wire.values import Json, JsonObject
from . import langfuse_generation
from .imported import ImportedTool
from .span import Span, SpanCall
from .unpacked import unpacked

_PREFIX: Final = "langfuse.observation."


def call_in(span: Span) -> SpanCall | None:
    """The generation that a span is; None when it is none."""
    if _of(span, "type") != "generation":
        return None
    value: JsonObject = {
        "input": _of(span, "input"),
        "output": _of(span, "output"),
        "model": _of(span, "model.name"),
        "modelParameters": _of(span, "model.parameters"),
        "usageDetails": unpacked(_of(span, "usage_details")),
        "metadata": _of(span, "metadata"),
    }
    return langfuse_generation.call_of(span, value)


def tool_in(span: Span) -> ImportedTool | None:
    """The run of a tool that a span is; None when it is none."""
    if _of(span, "type") != "tool":
        return None
    return ImportedTool(
        place=span.place,
        name=span.name,
        arguments=unpacked(_of(span, "input"), printed=True),
        result=_of(span, "output"),
        error=span.failure,
        started=span.started,
        latency_ms=span.latency_ms,
    )


def _of(span: Span, name: str) -> Json:
    return span.attributes.get(_PREFIX + name)
