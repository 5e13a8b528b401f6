"""What one model call sent and what came back, independent of the provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonObject: TypeAlias = "dict[str, Json]"

Stop = Literal["end", "tool_calls", "length", "filter", "refusal", "other"]
"""Why a reply ended, over all providers. The provider's own word is `Reply.stop_reason`."""

SlotKind = Literal["system", "user", "assistant", "tool_result", "tool_arguments", "tool_definition"]


@dataclass(frozen=True, slots=True)
class Request:
    """One model call as it went over the wire."""

    provider: str
    api: str
    """`chat.completions`, `responses` or `messages`; anything else is read in the shape of `chat.completions`."""
    endpoint: str | None
    """Base URL, such as `https://api.openai.com/v1`; None when a call was logged by hand without one."""
    body: JsonObject
    """The JSON body, provider fields kept. Never edited in place."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call of a reply."""

    name: str
    text: str
    """The arguments exactly as the provider sent them; JSON text for every provider."""
    arguments: Json
    """The parsed arguments; None when `text` is not JSON."""
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens billed for one request; None is unknown, never 0."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    """Input tokens read from the provider's prompt cache."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of a model (one choice of a response)."""

    text: str | None
    tool_calls: tuple[ToolCall, ...] = ()
    refusal: str | None = None
    stop: Stop = "other"
    stop_reason: str | None = None
    """The provider's own word."""
    model: str | None = None
    """The model that answered, as the server names it."""
    id: str | None = None
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Parts:
    """A request body taken apart the way traces store it; `Dialect.join` puts it together again, unchanged."""

    model: str | None
    system: Json
    """The system prompt where it stands outside the messages (Anthropic `system`, Responses `instructions`)."""
    messages: list[Json]
    tools: Json
    params: JsonObject
    """Every other key of the body."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One place in a request body that holds text."""

    path: tuple[str | int, ...]
    """Keys and indexes from the body to the string."""
    kind: SlotKind
    message: int
    """Index into `Parts.messages`; -1 for text outside them."""
    block: int
    """Index among the content blocks of that message; 0 when the content is one string."""
    text: str
    tool: str | None = None
    """The tool whose result or arguments this is, where the body tells."""
    call_id: str | None = None
