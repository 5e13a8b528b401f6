"""What an `llm_response` event holds, out of what came back over the wire."""

from __future__ import annotations

from dataclasses import dataclass

from ..canon import loads
from ..trace.streams import Stream
from ..wire.dialect import Dialect, UnreadableReply
from ..wire.sse import decode
from ..wire.telling import identified, told_of
from ..wire.values import Json, JsonObject, Reply, ToolCall
from .failure import failure
from .tee import Ending

ERROR_STATUS = 400
"""The first HTTP status that is no answer."""

TEXT = 10_000
"""Characters kept of a body that is neither JSON nor a stream of events."""


@dataclass(frozen=True, slots=True)
class Received:
    """One attempt's outcome as the program saw it."""

    status: int | None = None
    """None when no response arrived."""
    content_type: str = ""
    body: bytes = b""
    """As far as it was read, content encoding undone."""
    lengths: tuple[int, ...] = ()
    """Of the chunks of `body` that the program read; none where it was read in one."""
    ending: Ending = "end"
    error: BaseException | None = None
    """What the connection raised."""
    should_retry: bool | None = None
    """What the server told the SDK about trying again; None when it told nothing."""
    unparsed: str | None = None
    """Why the response could not be looked at; the program got it unchanged."""


@dataclass(frozen=True, slots=True)
class ResponseEvent:
    """Parts of the event."""

    payload: JsonObject
    meta: JsonObject
    tool_calls: tuple[ToolCall, ...]
    stream: Stream | None = None
    """The chunks of a streamed reply."""


def response_event(dialect: Dialect, received: Received) -> ResponseEvent:
    """`received` as the payload and meta of an `llm_response`.

    `unparsed` in the payload says why nothing could be read out of a body, `error` what went wrong instead of an
    answer; the body itself is in `raw` either way.
    """
    payload: JsonObject = {"text": None, "tool_calls": [], "stop_reason": None, "raw": None}
    meta: JsonObject = {} if received.status is None else {"status": received.status}
    reply: Reply | None = None
    if received.unparsed is not None:
        payload["unparsed"] = received.unparsed
    elif received.status is not None:
        try:
            reply = _read(dialect, received, payload, meta)
        except Exception as error:  # noqa: BLE001 -- a body may hold anything; that there was a reply must not be lost
            payload["unparsed"] = f"the response could not be read: {type(error).__name__}"
    if received.error is not None:
        # The SDK's own frames tell nothing about the program.
        _met(failure(received.error, frames=False), payload, meta)
    streamed = "stream" in meta and received.body and _is_stream(received)
    stream = Stream(received.body, received.lengths or (len(received.body),)) if streamed else None
    return ResponseEvent(payload, meta, () if reply is None else identified(reply.tool_calls), stream)


def _met(error: JsonObject, payload: JsonObject, meta: JsonObject) -> None:
    """Note what the connection raised; behind the end mark of a stream it takes nothing from the reply.

    SDKs read on from there, to use the connection again, and keep most of what they meet to themselves.
    """
    stream = meta.get("stream")
    if isinstance(stream, dict) and stream["complete"]:
        stream["behind"] = error
    else:
        payload["error"] = error


def _read(dialect: Dialect, received: Received, payload: JsonObject, meta: JsonObject) -> Reply | None:
    complete = received.ending == "end"
    if _is_stream(received):
        assembled = dialect.assemble(decode([received.body]))
        payload["raw"] = assembled.body
        complete = assembled.complete
        meta["stream"] = {"complete": complete, "reason": None if complete else _reason(received)}
    else:
        payload["raw"] = _json_or_text(received.body)
        if not complete:
            meta["stream"] = {"complete": False, "reason": _reason(received)}
    raw = payload["raw"]
    if received.status is not None and received.status >= ERROR_STATUS:
        payload["error"] = {**_told(raw, f"HTTP {received.status}"), "status": received.status}
        return None
    if isinstance(raw, dict) and "stream_error" in raw:
        payload["error"] = _told(raw["stream_error"], "stream error")
    try:
        replies = dialect.replies(raw)
    except UnreadableReply as unreadable:
        if complete or received.body:
            payload["unparsed"] = str(unreadable)
        return None
    if not replies:
        payload["unparsed"] = "the response holds no answer"
        return None
    told = told_of(replies[0])
    payload.update(told.payload)
    meta.update(told.meta)
    return replies[0]


def _is_stream(received: Received) -> bool:
    if "text/event-stream" in received.content_type:
        return True
    # Some servers stream events under another name.
    return received.body.lstrip()[:6].startswith((b"data:", b"event:"))


def _json_or_text(body: bytes) -> Json:
    if not body:
        return None
    try:
        return loads(body)
    except ValueError:
        return body[:TEXT].decode("utf-8", "replace")


def _reason(received: Received) -> str:
    # Read to its end without the API's own end mark: the server stopped short.
    return "cut short" if received.ending == "end" else received.ending


def _told(raw: Json, otherwise: str) -> JsonObject:
    """The provider's own words for an error; `otherwise` is its type where the provider names none."""
    told = raw.get("error", raw) if isinstance(raw, dict) else raw
    kind = told.get("type") if isinstance(told, dict) else None
    message = told.get("message") if isinstance(told, dict) else told
    return {
        "type": kind if isinstance(kind, str) else otherwise,
        "message": message if isinstance(message, str) else "",
    }
