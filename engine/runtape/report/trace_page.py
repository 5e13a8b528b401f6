"""A recorded run to look at: its timeline, one event of it, and what it did in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from ..trace.events import Event
from ..trace.summary import Summary
from ..trace.totals import ModelTotal, Tokens, Totals
from ..trace.trace import Trace
from .document import Block, Bullets, Document, Heading, Line, Paragraph, Quote, Recorded, Table
from .event_text import body, gist
from .phrases import number

_WHOLE = 1_000_000
"""Characters of an event that are shown; a person who asked for it can page through them."""
_ERRORS = 20
"""Errors that are shown before the rest is only counted."""


def timeline_page(trace: Trace, events: Sequence[Event] | None = None, offset: int = 0) -> Document:
    """The run's events in one row each, and what was wrong with the file.

    Args:
        trace: The run.
        events: Those that are shown, from position `offset` on of what was asked for; None for all of them.
        offset: Position of the first one.
    """
    summary = trace.summary()
    status = f"{number(summary.events, 'event')}, {number(summary.model_calls, 'model call')}, status {summary.status}."
    rows = trace.events if events is None else events
    part = f" Shown are {offset + 1:,} to {offset + len(rows):,}." if events is not None and events else ""
    page: list[Block] = [Heading(("Run ", Recorded(trace.name)), level=1), Paragraph((status + part,))]
    if rows:
        columns = ("event", "after", "kind", "what")
        began = trace.events[0].ts
        page.append(Table(columns, tuple(_row(event, began) for event in rows)))
    if trace.problems:
        lines = tuple((f"line {problem.line}: ", Recorded(problem.reason)) for problem in trace.problems)
        page += [Heading(("What could not be read",)), Bullets(lines)]
    return tuple(page)


def event_page(trace: Trace, event: Event) -> Document:
    """Everything that one event holds."""
    return (
        Heading((f"Event {event.id} of ", Recorded(trace.name), ": ", Recorded(event.type)), level=1),
        Quote(body(event), limit=_WHOLE),
    )


def totals_page(summary: Summary, totals: Totals) -> Document:
    """What a run did, in numbers."""
    took = "" if summary.duration is None else f", {seconds(summary.duration)}"
    head = f"{number(summary.events, 'event')}, {number(summary.model_calls, 'model call')}, status {summary.status}"
    started = f" Started {summary.started}." if summary.started else ""
    page: list[Block] = [Heading(("Run ", Recorded(summary.name)), level=1), Paragraph((f"{head}{took}.{started}",))]
    if totals.models:
        columns = ("model", "calls", "failed", "time", "tokens in", "from the prompt cache", "tokens out")
        page += [Heading(("Model calls",)), Table(columns, tuple(_model_row(model) for model in totals.models))]
        page += [Paragraph((note,)) for model in totals.models if (note := _untold(model))]
    if totals.tools:
        rows = tuple(
            ((Recorded(tool.name),), (str(tool.runs),), (str(tool.errors),), (seconds(tool.seconds),))
            for tool in totals.tools
        )
        page += [Heading(("Tools",)), Table(("tool", "runs", "errors", "time"), rows)]
    if totals.errors:
        shown = tuple(_error_line(event) for event in islice(totals.errors, _ERRORS))
        left = len(totals.errors) - len(shown)
        more: tuple[Line, ...] = ((f"and {left} more",),) if left else ()
        page += [Heading(("Errors",)), Bullets((*shown, *more))]
    if summary.problems:
        page.append(Paragraph((f"{number(summary.problems, 'line')} of the file could not be read fully.",)))
    return tuple(page)


def seconds(taken: float | None) -> str:
    """Such as `1.25 s` or `3 min 20 s`; `not recorded` for None."""
    if taken is None:
        return "not recorded"
    if taken >= 60:
        return f"{int(taken // 60)} min {taken % 60:.0f} s"
    return f"{taken:.2f} s" if taken >= 0.01 else f"{taken * 1000:.2g} ms"


def _row(event: Event, began: float) -> tuple[Line, ...]:
    after = seconds(event.ts - began) if event.ts and began and event.ts > began else ""
    return ((str(event.id),), (after,), (Recorded(event.type),), (Recorded(gist(event)),))


def _model_row(model: ModelTotal) -> tuple[Line, ...]:
    tokens = model.tokens
    told = (f"{tokens.input:,}", f"{tokens.cached:,}", f"{tokens.output:,}") if tokens.replies else ("?", "?", "?")
    counts = (str(model.calls), str(model.failed), seconds(model.seconds))
    return ((Recorded(model.name or "(not named)"),), *((text,) for text in (*counts, *told)))


def _untold(model: ModelTotal) -> str:
    """What to know about counts of tokens that do not hold every call."""
    tokens: Tokens = model.tokens
    if not tokens.replies:
        return "No reply tells how many tokens it took."
    silent = model.calls - tokens.replies
    return f"{number(silent, 'call')} without a count of tokens." if silent else ""


def _error_line(event: Event) -> Line:
    return (f"event {event.id}, ", Recorded(event.type), ": ", Recorded(gist(event), limit=300))
