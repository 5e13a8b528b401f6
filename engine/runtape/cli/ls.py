"""`runtape ls`: the recorded runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import TraceUnreadable
from ..report.document import Document, Heading, Line, Paragraph, Recorded, Table
from ..trace.lookup import trace_folder
from ..trace.store import SUFFIX, Store
from ..trace.summary import Summary
from ..trace.trace import Trace
from ..wire.values import JsonObject
from . import console, options


def command(
    *,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="Newest runs to list.")] = 20,
    as_json: options.AsJson = False,
) -> int:
    """List recorded runs, newest first.

    Example: runtape ls
    """
    folder = trace_folder()
    files = Store(folder).listing()
    summaries: list[tuple[str, Summary | str]] = []
    for row in files[:limit]:
        try:
            summaries.append((row.name, Trace.load(row.path).summary()))
        except TraceUnreadable as error:
            summaries.append((row.name, str(error)))
    if as_json:
        console.print_json({"traces": [_fields(name, summary) for name, summary in summaries], "total": len(files)})
    else:
        console.print_page(_page(summaries, len(files), folder))
    return console.DONE


def _page(summaries: list[tuple[str, Summary | str]], total: int, folder: Path) -> Document:
    if not summaries:
        empty = [file.name for file in sorted(folder.glob(f"*{SUFFIX}")) if file.is_file() and not file.stat().st_size]
        besides: Line = (" Files without any event: ", Recorded(", ".join(empty), 200), ".") if empty else ()
        where = f"No recorded runs in {folder.resolve()}. Record one with runtape.record(), or set RUNTAPE_DIR."
        return (Paragraph((where, *besides)),)
    rows = tuple(
        (
            (Recorded(name),),
            (summary.started or "",) if isinstance(summary, Summary) else ("",),
            (summary.status,) if isinstance(summary, Summary) else ("unreadable",),
            (str(summary.model_calls),) if isinstance(summary, Summary) else ("",),
            (Recorded(", ".join(summary.tools) if isinstance(summary, Summary) else summary),),
        )
        for name, summary in summaries
    )
    page: Document = (
        Heading((f"Runs in {folder}",), level=1),
        Table(("trace", "started", "status", "model calls", "tools"), rows),
    )
    left = total - len(summaries)
    return (*page, Paragraph((f"{left} older runs are not shown; pass --limit.",))) if left else page


def _fields(name: str, summary: Summary | str) -> JsonObject:
    if isinstance(summary, str):
        return {"trace": name, "status": "unreadable", "reason": summary}
    return {
        "trace": name,
        "started": summary.started,
        "status": summary.status,
        "events": summary.events,
        "model_calls": summary.model_calls,
        "tools": list(summary.tools),
    }
