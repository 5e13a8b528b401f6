"""A recorded reply as the HTTP answer that it came in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..canon import dumps
from ..trace.streams import STREAM
from ..trace.streams import chunks as recorded_chunks
from ..wire.dialects import dialect_for
from ..wire.sse import encode
from ..wire.values import Json, JsonObject
from .model_calls import RecordedCall

ERROR_STATUS = 400

CANCELLATIONS = frozenset({"CancelledError", "Cancelled"})
"""Types of what event loops raise in a task that is to end."""


@dataclass(frozen=True, slots=True)
class PlayedAnswer:
    """What the HTTP client is to give to the program."""

    status: int | None
    """None when no response came: the client raises."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    chunks: tuple[bytes, ...] = ()
    """The body, as the pieces in which it is read."""
    breaks: bool = False
    """The connection breaks after the last chunk."""
    is_given_up: bool = False
    """Nothing more came before the program stopped waiting for it."""
    error: str = ""
    """Type of what the client raised, by name."""
    message: str = ""
    seconds: float = 0.0
    """How long the recorded answer took; the played one does not wait."""


def answer_to(call: RecordedCall) -> PlayedAnswer | None:
    """The answer to a recorded call; None where the record holds none.

    A streamed reply is streamed again: in the chunks that were recorded, else, where the record holds none, the same
    texts and tool calls, each in one piece.
    """
    if call.reply is None:
        return None
    payload, meta = call.reply.payload, call.reply.meta
    raw, error = payload.get("raw"), _object(payload.get("error"))
    latency = meta.get("latency_ms")
    seconds = latency / 1000 if isinstance(latency, (int, float)) else 0.0
    status = meta.get("status")
    if not isinstance(status, int):
        if raw is None and error:
            kind = _text(error.get("type"))
            given_up = kind in CANCELLATIONS
            return PlayedAnswer(
                None, error=kind, message=_text(error.get("message")), is_given_up=given_up, seconds=seconds
            )
        status = 200  # formats that do not keep it keep only what was answered
    if raw is None and not error:
        return None
    stream = _object(meta.get("stream"))
    complete = stream.get("complete") is not False
    recorded = recorded_chunks(payload.get(STREAM))
    if recorded is not None:
        headers = {"content-type": "text/event-stream; charset=utf-8"}
        chunks = recorded
    elif isinstance(raw, dict) and status < ERROR_STATUS and call.body.get("stream") is True:
        events = dialect_for(call.api).streamed(raw, complete=complete)
        headers = {"content-type": "text/event-stream; charset=utf-8"}
        chunks = tuple(encode(event) for event in events)
    else:
        text = isinstance(raw, str)
        headers = {"content-type": "text/plain; charset=utf-8" if text else "application/json"}
        chunks = (raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else dumps(raw),)
    if status >= ERROR_STATUS:
        # It was the last attempt: the SDK need not wait and try again to come to the same end.
        headers["x-should-retry"] = "false"
    reason = stream.get("reason")
    return PlayedAnswer(
        status, headers, chunks, breaks=reason == "failed", is_given_up=reason == "cancelled", seconds=seconds
    )


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
