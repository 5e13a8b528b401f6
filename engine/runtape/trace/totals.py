"""What a run did, counted."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import NotADecision
from ..wire.values import Json
from .calls import Call, tool_of
from .events import Event
from .trace import Trace


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of the replies that tell them."""

    replies: int = 0
    """Replies that tell how many they took."""
    input: int = 0
    output: int = 0
    cached: int = 0
    """Input tokens read from the provider's prompt cache."""


@dataclass(frozen=True, slots=True)
class ToolTotal:
    """The runs of one tool."""

    name: str
    runs: int
    errors: int
    seconds: float | None
    """Of the runs together; None when no time was recorded."""


@dataclass(frozen=True, slots=True)
class ModelTotal:
    """The calls of one model."""

    name: str
    calls: int
    failed: int
    """Calls that got an error or no recorded reply."""
    seconds: float | None
    """From request to reply, of the calls together; None when no time was recorded."""
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class Totals:
    """A run in numbers."""

    models: tuple[ModelTotal, ...]
    """In order of first use."""
    tools: tuple[ToolTotal, ...]
    """Tools whose runs were recorded, in order of first use."""
    errors: tuple[Event, ...]
    """Failed replies, failed tool runs and `error` events, in file order."""


def totals(trace: Trace) -> Totals:
    """What the run did, counted over its events."""
    models: dict[str, list[Call]] = {}
    for call in trace.calls:
        name = call.request.payload.get("model")
        models.setdefault(name if isinstance(name, str) else "", []).append(call)
    tools: dict[str, list[Event | None]] = {}
    results = {event.parent: event for event in trace.events if event.type == "tool_result"}
    for event in trace.events:
        if event.type == "tool_call":
            tools.setdefault(tool_of(event) or "", []).append(results.get(event.id))
    return Totals(
        tuple(_model(trace, name, calls) for name, calls in models.items()),
        tuple(_tool(name, ended) for name, ended in tools.items()),
        tuple(event for event in trace.events if event.type == "error" or event.payload.get("error") is not None),
    )


def _model(trace: Trace, name: str, calls: list[Call]) -> ModelTotal:
    replies = [call.response for call in calls]
    failed = sum(1 for reply in replies if reply is None or reply.payload.get("error") is not None)
    return ModelTotal(name, len(calls), failed, _seconds(replies), _tokens(trace, calls))


def _tool(name: str, ended: list[Event | None]) -> ToolTotal:
    errors = sum(1 for result in ended if result is not None and result.payload.get("error") is not None)
    return ToolTotal(name, len(ended), errors, _seconds(ended))


def _tokens(trace: Trace, calls: list[Call]) -> Tokens:
    told: list[tuple[int, int, int]] = []
    for call in calls:
        if call.response is None:
            continue
        try:
            usage = trace.reply(call.response).usage
        except NotADecision:
            continue
        if usage.input is not None or usage.output is not None:
            told.append((usage.input or 0, usage.output or 0, usage.cached or 0))
    sums = [sum(column) for column in zip(*told, strict=True)] if told else [0, 0, 0]
    return Tokens(len(told), *sums)


def _seconds(events: list[Event | None]) -> float | None:
    times = [taken for event in events if event is not None and (taken := _latency(event.meta.get("latency_ms")))]
    return sum(times) / 1000 if times else None


def _latency(value: Json) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None
