"""HAR files: what a browser, a proxy or a recording library saw of HTTP."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Final

from ...wire.bodies import objects
from ...wire.reading import members
from ...wire.values import JsonObject
from .. import raw
from ..each_file import one_by_one
from ..imported import ImportedCall, ImportedRun, Skipped
from ..moments import seconds
from ..registry import Format
from ..source import Sample, Source
from ..spool import Spool
from ..streamed import streamed_run

_ENTRIES: Final = "log.entries"


def recognise(sample: Sample) -> str | None:
    """See `Format`."""
    for value in sample.objects[:1]:
        log = value.get("log")
        if isinstance(log, dict) and "entries" in log:
            creator = members(log.get("creator")).get("name")
            by = f", written by {creator}" if isinstance(creator, str) else ""
            return f"it is an object with `log.entries`{by}"
    return None


def read_one(source: Source) -> Iterator[ImportedRun | Skipped]:
    """See `Format`: a file is a run; headers are never copied."""
    with Spool() as spool:
        at = 0.0
        for record in source.records([_ENTRIES]):
            if record.problem is not None:
                yield Skipped(f"{source.name}, {record.place}", record.problem)
            elif record.within == _ENTRIES and isinstance(record.value, dict):
                at = seconds(record.value.get("startedDateTime")) or at
                spool.add("", at, {"place": record.place, "value": _without_headers(record.value)})
        for _, group in spool.groups():
            yield streamed_run(source.sample.name.rpartition("/")[2], group, _entry)


def _without_headers(entry: JsonObject) -> JsonObject:
    request, response = members(entry.get("request")), members(entry.get("response"))
    kept: JsonObject = {key: entry[key] for key in ("startedDateTime", "time") if key in entry}
    kept["request"] = {key: request[key] for key in ("method", "url", "postData") if key in request}
    kept["response"] = {key: response[key] for key in ("status", "content") if key in response}
    return kept


def _entry(place: str, entry: JsonObject) -> ImportedCall | Skipped:
    request, response = members(entry.get("request")), members(entry.get("response"))
    url, method = request.get("url"), request.get("method")
    if not isinstance(url, str) or method not in ("POST", None):
        return Skipped(place, raw.NO_CALL, notable=False)
    posted = members(request.get("postData"))
    sent = posted.get("text")
    body: str | bytes = sent if isinstance(sent, str) else ""
    if posted.get("encoding") == "base64" and isinstance(sent, str):
        body = _decoded(sent)
    status = response.get("status")
    took = entry.get("time")
    return raw.exchange(
        place,
        url,
        body,
        _content(members(response.get("content"))),
        status=status if isinstance(status, int) and status > 0 else None,
        started=seconds(entry.get("startedDateTime")),
        latency_ms=float(took) if isinstance(took, (int, float)) and took >= 0 else None,
    )


def _content(content: JsonObject) -> bytes:
    text = content.get("text")
    if not isinstance(text, str):
        return b"".join(
            _decoded(chunk["text"]) for _, chunk in objects(content.get("_chunks")) if isinstance(chunk["text"], str)
        )
    return _decoded(text) if content.get("encoding") == "base64" else text.encode("utf-8", "surrogatepass")


def _decoded(text: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=False)
    except (binascii.Error, ValueError):
        return text.encode("utf-8", "surrogatepass")
    return raw.unzipped(data)


FORMAT = Format("har", "HTTP archive", "an object with `log.entries`", recognise, one_by_one(read_one))
