"""One sample of an Inspect AI log with its references looked up.

Texts that are long are stored once as attachments and named by `attachment://HASH` (older logs: `tc://HASH`); newer
logs also keep messages in a pool, which model events name by ranges. https://inspect.aisi.org.uk/eval-logs.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ..wire.bodies import listed, objects
from ..wire.reading import members
from ..wire.values import Json, JsonObject

_NAMED: Final = re.compile(r"(?:attachment|tc)://([0-9a-zA-Z]+)")


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample and what its events refer to."""

    value: JsonObject
    attachments: JsonObject
    messages: list[Json]
    """The pool of messages."""
    calls: list[Json]
    """The pool of what provider requests hold."""
    events: list[JsonObject]


def sample_of(value: JsonObject) -> Sample:
    """The sample, whatever version of the log wrote it."""
    transcript = members(value.get("transcript"))
    data = members(value.get("events_data"))
    events = value.get("events") if isinstance(value.get("events"), list) else transcript.get("events")
    return Sample(
        value=value,
        attachments={**members(transcript.get("content")), **members(value.get("attachments"))},
        messages=listed(value.get("message_pool")) or listed(data.get("messages")),
        calls=listed(value.get("call_pool")) or listed(data.get("calls")),
        events=[event for _, event in objects(events)],
    )


def resolved(sample: Sample, value: Json) -> Json:
    """`value` with the text of every attachment in the place of its name; one that is not there stays a name."""
    if isinstance(value, str):
        if "://" not in value:
            return value
        return _NAMED.sub(lambda found: _attached(sample, found), value)
    if isinstance(value, list):
        return [resolved(sample, item) for item in value]
    if isinstance(value, dict):
        return {key: resolved(sample, item) for key, item in value.items()}
    return value


def input_of(sample: Sample, event: JsonObject) -> list[JsonObject]:
    """The messages that a model event was given, attachments looked up."""
    given = _ranges(event.get("input_refs"), sample.messages) if event.get("input_refs") else event.get("input")
    return [message for _, message in objects(resolved(sample, given))]


def request_of(sample: Sample, event: JsonObject) -> JsonObject:
    """The provider request of a model event; empty when the log does not keep it."""
    call = members(event.get("call"))
    request = dict(members(call.get("request")))
    if request and call.get("call_refs"):
        key = call.get("call_key")
        kept = _ranges(call.get("call_refs"), sample.calls)
        if not kept:
            return {}
        request[key if isinstance(key, str) else "messages"] = kept
    return members(resolved(sample, request))


def _ranges(refs: Json, pool: list[Json]) -> list[Json]:
    return [item for first, end in _pairs(refs) for item in pool[first:end]]


def _pairs(refs: Json) -> Iterator[tuple[int, int]]:
    for pair in listed(refs):
        ends = listed(pair)
        if len(ends) == 2 and isinstance(first := ends[0], int) and isinstance(end := ends[1], int):
            yield first, end


def _attached(sample: Sample, found: re.Match[str]) -> str:
    text = sample.attachments.get(found.group(1))
    return text if isinstance(text, str) else found.group()
