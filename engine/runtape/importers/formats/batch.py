"""Files of whole request and response bodies: batches of OpenAI and Anthropic, and logs of pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from ...wire.dialects import dialect_of_path
from ...wire.reading import members
from ...wire.values import Json, JsonObject
from .. import raw
from ..imported import ImportedCall, ImportedRun, Skipped
from ..moments import seconds
from ..registry import Format
from ..source import Sample, Source
from ..spool import Spool
from ..streamed import streamed_run

_NO_REQUEST: Final = "a reply whose request is in none of the files: give the batch's input file with it"


def recognise(sample: Sample) -> str | None:
    """See `Format`."""
    for value in sample.objects[:5]:
        if "custom_id" in value:
            if isinstance(value.get("body"), dict) or isinstance(value.get("params"), dict):
                return "its lines have `custom_id` and a request body"
            if "response" in value or "result" in value:
                return "its lines have `custom_id` and a response"
        request = _request(value)
        if request is not None and _reply_key(value) is not None:
            return f"its records hold a request body and `{_reply_key(value)}`"
        if request is not None and isinstance(value.get("model"), str) and ("messages" in value or "input" in value):
            return "its records are request bodies"
    return None


def read(sources: Sequence[Source]) -> Iterator[ImportedRun | Skipped]:
    """See `Format`: lines of one `custom_id` in any of the files are one call; a batch, or else a file, is a run."""
    with Spool() as batch, Spool() as pairs:
        for source in sources:
            for record in source.records():
                place = f"{source.name.rpartition('/')[2]}, {record.place}"
                value = record.value
                if record.problem is not None:
                    yield Skipped(place, record.problem)
                elif not isinstance(value, dict):
                    yield Skipped(place, "it is no object")
                elif isinstance(value.get("custom_id"), str):
                    batch.add(str(value["custom_id"]), 0.0, {"place": place, "value": value})
                else:
                    pairs.add(source.name, 0.0, {"place": place, "value": value})
        calls = (event for _, group in batch.groups() for event in _joined(list(group)))
        first = next(calls, None)
        if first is not None:
            yield ImportedRun(sources[0].name.rpartition("/")[2], chain([first], calls))
        for name, group in pairs.groups():
            yield streamed_run(name.rpartition("/")[2], group, _pair)


def _joined(group: list[JsonObject]) -> Iterator[ImportedCall | Skipped]:
    """The requests and the replies of one id, in file order: the first reply to the first request."""
    requests = [item for item in group if _batch_request(members(item["value"])) is not None]
    replies = [item for item in group if item not in requests]
    for index in range(max(len(requests), len(replies))):
        if index >= len(requests):
            yield Skipped(str(replies[index]["place"]), _NO_REQUEST)
            continue
        asked = members(requests[index]["value"])
        body = _batch_request(asked) or {}
        answer = members(replies[index]["value"]) if index < len(replies) else {}
        url = asked.get("url")
        dialect = dialect_of_path(url) if isinstance(url, str) else None
        reply, status, error = _answer(answer)
        yield raw.call_of(
            f"{asked['custom_id']} ({requests[index]['place']})",
            body,
            reply,
            api=dialect.api if dialect is not None else "messages" if "params" in asked else None,
            status=status,
            error=error,
        )


def _batch_request(value: JsonObject) -> JsonObject | None:
    for key in ("body", "params"):
        found = value.get(key)
        if isinstance(found, dict):
            return found
    return None


def _answer(value: JsonObject) -> tuple[Json, int | None, JsonObject | None]:
    """Reply, status and error of a line of OpenAI's output or error file, or of Anthropic's results."""
    response, result = members(value.get("response")), members(value.get("result"))
    status = response.get("status_code")
    error = value.get("error") or result.get("error")
    kind = result.get("type")
    if isinstance(error, dict):
        inner = members(error.get("error")) or error
        told: JsonObject | None = {"type": str(inner.get("type") or inner.get("code")), "message": inner.get("message")}
    else:
        told = {"type": kind, "message": ""} if isinstance(kind, str) and kind != "succeeded" else None
    return response.get("body", result.get("message")), status if isinstance(status, int) else None, told


_REPLIES: Final = ("response", "response_body", "reply", "output", "completion")


def _reply_key(value: JsonObject) -> str | None:
    return next((key for key in _REPLIES if isinstance(value.get(key), (dict, str))), None)


def _request(value: JsonObject) -> JsonObject | None:
    """The request body of a record: under a name of its own, or the record itself."""
    for key in ("request", "body", "kwargs", "request_body"):
        found = value.get(key)
        if isinstance(found, dict):
            inner = found.get("body") if isinstance(found.get("body"), (dict, str)) else found
            body = raw.sent_body(inner) if isinstance(inner, str) else members(inner)
            if body and ("messages" in body or "input" in body):
                return body
        if isinstance(found, str):
            body = raw.sent_body(found)
            if body and ("messages" in body or "input" in body):
                return body
    if isinstance(value.get("messages"), list) or ("input" in value and isinstance(value.get("model"), str)):
        return {key: item for key, item in value.items() if key not in _ABOUT}
    return None


_ABOUT: Final = {*_REPLIES, "id", "timestamp", "created_at", "latency", "latency_ms", "status", "error", "url", "cost"}
_NOTED: Final = ("api_key", "spend", "usage", "request_id", "duration", "trace_id", "session_id", "user_id", "tags")
"""Keys that no request body has: a record with any of them is a log, of which not every key was sent."""


def _pair(place: str, value: JsonObject) -> ImportedCall | Skipped:
    body = _request(value)
    if body is None:
        if _reply_key(value) is not None or "choices" in value:
            return Skipped(place, "a reply without its request")
        return Skipped(place, "it holds no request body")
    key = _reply_key(value)
    reply: Json = value.get(key) if key is not None else None
    if isinstance(reply, dict) and isinstance(reply.get("body"), (dict, str)):
        reply = reply["body"]
    url = value.get("url") or members(value.get("request")).get("url")
    dialect = dialect_of_path(url) if isinstance(url, str) else None
    api = dialect.api if dialect is not None else raw.api_of_body(body)
    complete = True
    if isinstance(reply, str):
        reply, complete = raw.received_body(api, reply.encode("utf-8", "surrogatepass"))
    call = raw.call_of(
        place,
        body,
        raw.told_reply(api, reply),
        api=api,
        endpoint=raw.endpoint_of(url) if isinstance(url, str) else None,
        started=seconds(value.get("timestamp") or value.get("created_at")),
        complete=complete,
    )
    if call.fidelity != "exact" or not any(key in body for key in _NOTED):
        return call
    kept: JsonObject = {key: item for key, item in body.items() if key not in _NOTED}
    return replace(call, body=kept, fidelity="rebuilt", why="taken out of a log's record, of which it is a part")


FORMAT = Format(
    "pairs",
    "request and response bodies",
    "records with `custom_id` and `body` or `response`, or with `request` and `response`",
    recognise,
    read,
)
