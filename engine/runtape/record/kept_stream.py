"""Whether the chunks of a stream may be kept: only when there is nothing in them that redaction would take out."""

from __future__ import annotations

from collections import defaultdict

from ..trace.redact import Redacted, redact, redact_text
from ..trace.streams import STREAM, Stream, packed
from ..wire.sse import decode
from ..wire.values import Json, JsonObject

_LEFT_OUT = "left_out"
"""Name of the reason in the meta's `stream`."""


def with_stream(reply: Redacted, stream: Stream, why_not: str | None) -> Redacted:
    """The reply, which went through redaction, with its chunks, or in its meta with the reason why they are not there.

    `why_not` is the reason for leaving them out, where there is one already.
    """
    reason = why_not or _secret_in(stream)
    payload: JsonObject = {**reply.payload, STREAM: packed(stream)} if reason is None else reply.payload
    if reason is None and stream.is_kept:
        return Redacted(payload, reply.meta)
    told = reply.meta.get(STREAM)
    why = reason or "too long; their length and SHA-256 are kept"
    return Redacted(
        payload, {**reply.meta, STREAM: {**(told if isinstance(told, dict) else {}), _LEFT_OUT: f"chunks: {why}"}}
    )


def _secret_in(stream: Stream) -> str | None:
    if not stream.is_kept:
        return None  # nothing of it is written
    text = stream.raw.decode("utf-8", "surrogateescape")
    if redact_text(text) != text:
        return "redaction found something in them"
    events = list(decode([stream.raw]))
    if any(redact(event) != event for event in events):
        return "redaction found something in them"
    # A secret may come in pieces: what stands at one place of all events is looked at in a row.
    pieces: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for event in events:
        _collect(event, (), pieces)
    if any(redact_text(whole) != whole for whole in map("".join, pieces.values())):
        return "redaction found something that runs over several of them"
    return None


def _collect(value: Json, path: tuple[str, ...], pieces: defaultdict[tuple[str, ...], list[str]]) -> None:
    if isinstance(value, str):
        pieces[path].append(value)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            _collect(item, (*path, str(at)), pieces)
    elif isinstance(value, dict):
        for key, item in value.items():
            _collect(item, (*path, key), pieces)
