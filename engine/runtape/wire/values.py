"""What one model call sent and what came back, independent of the provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonObject: TypeAlias = "dict[str, Json]"

Path: TypeAlias = "tuple[str | int, ...]"
"""Keys and indexes from a body to one of its values."""

Stop = Literal["end", "tool_calls", "length", "filter", "refusal", "unfinished", "other"]
"""Why a reply ended, over all providers; `unfinished` is one that the server failed at, paused or gave up.
The provider's own word is `Reply.stop_reason`."""

SlotKind = Literal["system", "user", "assistant", "tool_result", "tool_arguments", "tool_definition"]

SlotForm = Literal["text", "json", "block", "reasoning"]
"""How a slot's text stands in the body: a string; a JSON value of which it is the spelling; a content block without
words of its own, of which it is our description; a block or field of reasoning, which goes whole or stays."""


@dataclass(frozen=True, slots=True)
class Request:
    """One model call as it went over the wire."""

    provider: str
    api: str
    """`chat.completions`, `responses`, `messages` or `completions`; anything else is read in the shape of the first."""
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
    """One place in a request body that holds text, or a part that is as good as one to a model."""

    path: Path
    """From the body to the string, value or block."""
    kind: SlotKind
    message: int
    """Index into `Parts.messages`; -1 for text outside them."""
    block: int
    """Index among the content blocks of that message; 0 when the content is one string."""
    text: str
    tool: str | None = None
    """The tool whose result, arguments or definition this is, where the body tells."""
    call_id: str | None = None
    form: SlotForm = "text"
    parameter: str | None = None
    """The parameter that a description of a tool is about, such as `filter.path`; None for the tool's own."""
