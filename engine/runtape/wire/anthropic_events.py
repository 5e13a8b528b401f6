"""An Anthropic message as the events of a stream: the inverse of putting them together."""

from __future__ import annotations

from .. import canon
from .bodies import listed, objects
from .reading import members
from .values import Json, JsonObject

_LENGTHENS = {
    "text": (("text", "text_delta"),),
    "thinking": (("thinking", "thinking_delta"), ("signature", "signature_delta")),
    "compaction": (("content", "compaction_delta"),),
}
"""Texts of a block that arrive by deltas, in their order, with the type of the delta."""

_ENDING = ("stop_reason", "stop_sequence")


def events(body: JsonObject, *, complete: bool) -> list[Json]:
    """The data of the stream's events, each text in one piece; without the end where the stream was cut."""
    error = body.get("stream_error")
    usage = members(body.get("usage"))
    start: JsonObject = {key: value for key, value in body.items() if key != "stream_error"}
    start["content"] = []
    if complete:
        start.update(dict.fromkeys((key for key in _ENDING if key in body), None))
    found: list[Json] = [{"type": "message_start", "message": start}]
    for index, block in objects(body.get("content")):
        found.extend(_block(index, block))
    if complete:
        ending: JsonObject = {key: body[key] for key in _ENDING if key in body}
        spent: JsonObject = {"output_tokens": usage["output_tokens"]} if "output_tokens" in usage else {}
        found.append({"type": "message_delta", "delta": ending, "usage": spent})
        found.append({"type": "message_stop"})
    if error is not None:
        found.append({"type": "error", "error": error})
    return found


def _block(index: int, block: JsonObject) -> list[Json]:
    start = dict(block)
    deltas: list[JsonObject] = []
    type_ = block.get("type")
    for key, delta in _LENGTHENS.get(type_, ()) if isinstance(type_, str) else ():
        text = block.get(key)
        if isinstance(text, str) and text:
            start[key] = ""
            deltas.append({"type": delta, key: text})
    if listed(block.get("citations")):
        start["citations"] = []
        deltas.extend({"type": "citations_delta", "citation": citation} for citation in listed(block["citations"]))
    given = block.get("input")
    if given:
        start["input"] = {}
        text = given if isinstance(given, str) else canon.dumps(given).decode()
        deltas.append({"type": "input_json_delta", "partial_json": text})
    found: list[Json] = [{"type": "content_block_start", "index": index, "content_block": start}]
    found.extend({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
    found.append({"type": "content_block_stop", "index": index})
    return found
