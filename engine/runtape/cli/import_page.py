"""What one import did, as a report and as fields."""

from __future__ import annotations

from ..importers.importing import ImportOutcome, Read
from ..report.document import Bullets, Document, Heading, Line, Paragraph, Recorded, Table
from ..report.phrases import number
from ..trace.fidelity import LABELS
from ..wire.values import Json, JsonObject

_SUPPLIED = {"tools", "system", "params"}
_TRACES = 20
"""Traces named one by one."""


def import_page(outcome: ImportOutcome) -> Document:
    """The report for a person."""
    page: Document = ()
    for read in outcome.read:
        page = (*page, *_read(read))
    if outcome.unread:
        items = tuple((Recorded(skipped.place, 200), f": {skipped.reason}") for skipped in outcome.unread[:_TRACES])
        left = len(outcome.unread) - len(items)
        rest: tuple[Line, ...] = ((f"and {number(left, 'more file')}",),) if left > 0 else ()
        page = (*page, Heading(("Files not read",)), Bullets((*items, *rest)))
    if not outcome.calls:
        return (*page, Paragraph((f"No model call was found: {_reason(outcome)}.",)))
    return (*page, Paragraph(("Next: `runtape show TRACE`, then `runtape why TRACE EVENT`.",)))


def _read(read: Read) -> Document:
    name, reason = next(iter(read.reasons.items()))
    files = (Recorded(name, 200),) if len(read.reasons) == 1 else (f"{number(len(read.reasons), 'file')}",)
    found = (
        f"{number(read.records, 'record')} read; {number(read.calls, 'model call')} in "
        f"{number(len(read.traces), 'trace')}."
    )
    page: Document = (
        Heading((f"{read.format.title}: ", *files), level=1),
        Paragraph((f"Recognised as `{read.format.name}`: ", Recorded(reason, 300), ".")),
        Paragraph((found,)),
    )
    if read.calls:
        counts = [f"{read.fidelity[label]:,} {label}" for label in LABELS if read.fidelity[label]]
        lacks = [f"{part} ({count:,})" for part, count in read.missing.most_common()]
        page = (*page, Paragraph((f"Fidelity: {', '.join(counts)}.",)))
        if lacks:
            hint = ". See --tools, --system and --params." if _SUPPLIED & read.missing.keys() else "."
            page = (*page, Paragraph(("Missing: ", Recorded(", ".join(lacks), 500), hint)))
    skipped = [
        (reason, count) for counter in (read.skipped, read.structural) for reason, count in counter.most_common()
    ]
    if skipped:
        rows = tuple(
            ((f"{count:,}",), (Recorded(why, 200),), (Recorded(read.first[why], 100),)) for why, count in skipped
        )
        page = (*page, Table(("skipped", "why", "first"), rows))
    if read.traces:
        written = tuple(
            ((Recorded(trace.path.stem),), (str(trace.calls),), (str(trace.tools),), (Recorded(trace.name, 60),))
            for trace in read.traces[:_TRACES]
        )
        page = (*page, Table(("trace", "model calls", "tool runs", "run"), written))
        twins = [(trace.path.stem, trace.twin) for trace in read.traces if trace.twin is not None]
        if twins:
            first = f"{twins[0][0]} beside {twins[0][1]}"
            told = f"{number(len(twins), 'trace')} of a name and start that was there already, kept beside it: "
            page = (*page, Paragraph((told, Recorded(first, 200), ", for one." if len(twins) > 1 else ".")))
        if len(read.traces) > _TRACES:
            page = (*page, Paragraph((f"And {len(read.traces) - _TRACES:,} more traces; `runtape ls` lists them.",)))
    return page


def _reason(outcome: ImportOutcome) -> str:
    """Why there is no model call at all."""
    told = [
        f"{count:,} times {reason}"
        for read in outcome.read
        for counter in (read.skipped, read.structural)
        for reason, count in counter.most_common(3)
    ]
    told += [skipped.reason for skipped in outcome.unread[:3]]
    return "; ".join(told) or "the files hold no record"


def import_fields(outcome: ImportOutcome) -> JsonObject:
    """The same for a program."""
    fields: JsonObject = {
        "calls": outcome.calls,
        "formats": [_fields(read) for read in outcome.read],
        "unread": [{"file": skipped.place, "reason": skipped.reason} for skipped in outcome.unread],
    }
    if not outcome.calls:
        fields["reason"] = _reason(outcome)
    return fields


def _fields(read: Read) -> JsonObject:
    traces: list[Json] = [
        {
            "trace": trace.path.stem,
            "path": str(trace.path),
            "name": trace.name,
            "calls": trace.calls,
            "replies": trace.replies,
            "tools": trace.tools,
        }
        for trace in read.traces
    ]
    skipped: list[Json] = [
        {"reason": reason, "count": count, "first": read.first[reason], "notable": counter is read.skipped}
        for counter in (read.skipped, read.structural)
        for reason, count in counter.most_common()
    ]
    return {
        "format": read.format.name,
        "title": read.format.title,
        "files": dict(read.reasons),
        "records": read.records,
        "calls": read.calls,
        "fidelity": dict(read.fidelity),
        "missing": dict(read.missing),
        "skipped": skipped,
        "traces": traces,
    }
