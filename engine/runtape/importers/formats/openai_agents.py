"""OpenAI Agents SDK: exported traces, and the items of sessions.

Seen with openai-agents 0.24.0. A `generation` span holds the messages of a chat completion, not its tools; the exported
form of a `response` span holds neither input nor output. A session, in its SQLite file or as `get_items()` gives it,
holds the items that were said, without instructions and tools.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...wire.bodies import objects
from ...wire.reading import members
from ...wire.values import JsonObject
from ..agents_session import session_records, session_runs
from ..agents_spans import trace_runs
from ..each_file import one_by_one, stem, usable
from ..imported import ImportedRun, Skipped
from ..json_stream import Record
from ..registry import Format
from ..source import Sample, Source

_ITEMS: Final = ("function_call", "function_call_output", "reasoning", "item_reference")
_SQLITE: Final = b"SQLite format 3\0"


def recognise(sample: Sample) -> str | None:
    """Why a file looks like this format; None when it does not."""
    if sample.head.startswith(_SQLITE):
        return "an SQLite file with a table of `message_data`" if b"message_data" in sample.head else None
    for value in sample.objects:
        if _is_span(value) or any(_is_span(span) for _, span in objects(value.get("data"))):
            return "objects named trace and trace.span"
        if value.get("type") in _ITEMS and "payload" not in value:
            return f"items of type {value['type']}, as a session keeps them"
        said = any(part.get("type") == "output_text" for _, part in objects(value.get("content")))
        if value.get("role") == "assistant" and said and "object" not in value:
            return "messages with parts of type output_text, as a session keeps them"
    return None


def read_one(source: Source) -> Iterator[ImportedRun | Skipped]:
    """One run per trace or session."""
    name = stem(source.name)
    broken: list[Skipped] = []
    if source.sample.head.startswith(_SQLITE):
        yield from session_runs(usable(session_records(source), broken), name)
    else:
        yield from runs(usable(source.records(), broken), name)
    yield from broken


def runs(records: Iterator[Record], name: str) -> Iterator[ImportedRun | Skipped]:
    """The runs among the values of a file of JSON."""
    spans: list[Record] = []
    items: list[Record] = []
    for record in records:
        value = members(record.value)
        batch = [span for _, span in objects(value.get("data"))]
        if batch and "object" not in value:
            spans += [Record(f"{record.place}, item {at}", span) for at, span in enumerate(batch, 1)]
        else:
            (spans if _is_span(value) else items).append(record)
    if spans:
        yield from trace_runs(spans, name)
        for record in items:
            yield Skipped(record.place, "no trace and no span")
    else:
        yield from session_runs(iter(items), name)


def _is_span(value: JsonObject) -> bool:
    return value.get("object") in ("trace", "trace.span")


FORMAT: Final = Format(
    "openai-agents",
    "OpenAI Agents SDK traces and sessions",
    "`object` trace.span, or a session's items",
    recognise,
    one_by_one(read_one),
)
