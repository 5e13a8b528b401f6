"""`runtape summary`: a run in numbers."""

from __future__ import annotations

from ..report.event_text import gist
from ..report.trace_page import totals_page
from ..trace.lookup import find_trace
from ..trace.summary import Summary
from ..trace.totals import Totals, totals
from ..trace.trace import Trace
from ..wire.values import JsonObject
from . import console, options


def command(trace: options.TraceArgument, *, as_json: options.AsJson = False) -> int:
    """Count what a recorded run did: calls, tokens, tools, time and errors.

    Example: runtape summary last
    """
    recorded = Trace.load(find_trace(trace))
    summary, counted = recorded.summary(), totals(recorded)
    if as_json:
        console.print_json(_fields(recorded.name, summary, counted))
    else:
        console.print_page(totals_page(summary, counted))
    return console.DONE


def _fields(trace: str, summary: Summary, counted: Totals) -> JsonObject:
    return {
        "trace": trace,
        "name": summary.name,
        "started": summary.started,
        "status": summary.status,
        "seconds": summary.duration,
        "events": summary.events,
        "model_calls": summary.model_calls,
        "models": [
            {
                "model": model.name,
                "calls": model.calls,
                "failed": model.failed,
                "seconds": model.seconds,
                "tokens": {
                    "replies": model.tokens.replies,
                    "input": model.tokens.input,
                    "cached": model.tokens.cached,
                    "output": model.tokens.output,
                },
            }
            for model in counted.models
        ],
        "tools": [
            {"tool": tool.name, "runs": tool.runs, "errors": tool.errors, "seconds": tool.seconds}
            for tool in counted.tools
        ],
        "errors": [{"event": event.id, "type": event.type, "what": gist(event)} for event in counted.errors],
        "problems": summary.problems,
    }
