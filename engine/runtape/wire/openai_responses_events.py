"""A Responses answer as the events of a stream: the inverse of putting them together."""

from __future__ import annotations

from .bodies import objects
from .values import Json, JsonObject

_TEXT_OF_PART = {"output_text": "text", "refusal": "refusal", "reasoning_text": "text", "summary_text": "text"}
"""Where a part of an item keeps the text that arrives by deltas."""

_TEXT_OF_ITEM = {
    "function_call": ("arguments", "function_call_arguments"),
    "mcp_call": ("arguments", "mcp_call_arguments"),
    "custom_tool_call": ("input", "custom_tool_call_input"),
}
"""Where an item itself keeps such a text, and the stem of its events."""

_LAST = {"failed": "response.failed", "incomplete": "response.incomplete"}


def events(body: JsonObject, *, complete: bool) -> list[Json]:
    """The data of the stream's events, each text in one piece; without the last one where the stream was cut."""
    error = body.get("stream_error")
    whole: JsonObject = {key: value for key, value in body.items() if key != "stream_error"}
    begun: JsonObject = {**whole, "output": []} if "output" in whole else whole
    if complete:
        begun = {**begun, "status": "in_progress"}
    found: list[JsonObject] = [{"type": "response.created", "response": begun}]
    for index, item in objects(body.get("output")):
        found.extend(_item(index, item))
    if error is not None:
        told = error if isinstance(error, dict) else {"message": error}
        found.append({"type": "error", **told})
    if complete:
        status = body.get("status")
        last = _LAST.get(status, "response.completed") if isinstance(status, str) else "response.completed"
        found.append({"type": last, "response": whole})
    return [{**event, "sequence_number": number} for number, event in enumerate(found)]


def _item(index: int, item: JsonObject) -> list[JsonObject]:
    at: JsonObject = {"output_index": index, "item_id": item.get("id")}
    start = dict(item)
    inside: list[JsonObject] = []
    for key, position, stem in (("content", "content_index", "content_part"), ("summary", "summary_index", "")):
        parts = objects(item.get(key))
        if parts:
            start[key] = []
            for number, part in parts:
                inside.extend(_part({**at, position: number}, stem or "reasoning_summary_part", part))
    type_ = item.get("type")
    key, stem = _TEXT_OF_ITEM.get(type_, ("", "")) if isinstance(type_, str) else ("", "")
    text = item.get(key)
    if isinstance(text, str) and text:
        start[key] = ""
        inside.append({**at, "type": f"response.{stem}.delta", "delta": text})
        inside.append({**at, "type": f"response.{stem}.done", key: text, "name": item.get("name")})
    return [
        {"type": "response.output_item.added", "output_index": index, "item": start},
        *inside,
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def _part(at: JsonObject, stem: str, part: JsonObject) -> list[JsonObject]:
    type_ = part.get("type")
    key = _TEXT_OF_PART.get(type_, "") if isinstance(type_, str) else ""
    text = part.get(key)
    said: list[JsonObject] = []
    start = part
    if isinstance(text, str) and text:
        start = {**part, key: ""}
        name = "reasoning_summary_text" if type_ == "summary_text" else type_
        extra: JsonObject = {"logprobs": []} if type_ == "output_text" else {}
        said = [
            {**at, "type": f"response.{name}.delta", "delta": text, **extra},
            {**at, "type": f"response.{name}.done", key: text, **extra},
        ]
    return [
        {**at, "type": f"response.{stem}.added", "part": start},
        *said,
        {**at, "type": f"response.{stem}.done", "part": part},
    ]
