"""What to do next, in words of ours: the last line of every answer.

What a result calls for is said once, in the reports; the state of the job and the spelling of arguments are added here.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import cast

from runtape.report.fields import next_step as next_of
from runtape.report.fix_page import is_guard
from runtape.report.results import FixReport, WhyReport
from runtape.report.step import Step

from .consent import ceiling
from .failures import advice
from .fence import Fence, is_plain
from .jobs import Job
from .paths import public_name
from .settings import Settings
from .verbs import Decision, Question


def next_step(job: Job, asked: Question, fence: Fence, settings: Settings, *, wanted: int | None, asks: bool) -> str:
    """The next step for whoever reads the answer.

    Args:
        job: How far it is.
        asked: The question that it answers.
        fence: The fence of the answer.
        settings: The launch.
        wanted: The `max_calls` argument.
        asks: The client can put questions to the user.
    """
    again = f"Call {job.verb} again with the same arguments: it goes on, and nothing is paid for twice."
    match job.status:
        case "running":
            return again
        case "stopped":
            return f"It was stopped and pays for nothing more. {again}"
        case "failed":
            if job.error is None:
                return f"A fault in runtape-mcp ended it; its log has the details. {again}"
            return f"{advice(job.error)} Details: {fence.inline(str(job.error), 300)}"
        case "paused":
            return _paused(job, settings, again, wanted=wanted, asks=asks)
        case "done":
            return _done(job, asked)


def _paused(job: Job, settings: Settings, again: str, *, wanted: int | None, asks: bool) -> str:
    most = settings.max_calls
    if job.pause == "nobody asked":
        return again
    if job.pause == "process limit":
        return (
            f"Paused: this server has spent the {settings.process_calls} model calls that one process may spend. What "
            "is proven so far is above. The user can start the server anew; nothing is paid for twice."
        )
    if job.pause == "money limit":
        return (
            f"Paused: what the next request may cost does not fit into the ${settings.max_usd:g} that this launch "
            "allows, less what other jobs have set aside. What is proven so far is above. Only the user can allow "
            "more, with --max-usd at the launch of runtape-mcp; nothing is paid for twice."
        )
    if job.limit >= most:
        return (
            f"Paused at {job.calls} model calls, the most that this launch allows for one job. What is proven so far "
            "is above. Only the user can allow more, with --max-calls at the launch of runtape-mcp."
        )
    if asks and ceiling(wanted, settings) > job.limit:
        return f"Paused at {job.calls} model calls. {again} The user is asked first whether it may cost more."
    return (
        f"Paused at {job.calls} model calls. When the user agrees to more, call {job.verb} again with the same "
        f"arguments and max_calls={most}; nothing is paid for twice."
    )


def _done(job: Job, asked: Question) -> str:
    decision = asked.decision
    match job.report:
        case WhyReport(stopped_by="budget") | FixReport(stopped_by="budget"):
            return (
                "The reruns that one search may plan are used up; what is proven is above. Ask a narrower question, "
                f"with a text in suspects, or a decision by tool or match: {_call(job.verb, decision)}."
            )
        case WhyReport(causes=[leading, *_]) as report:
            events = [event for event in leading.events if event is not None]
            where = f" show_event with event={events[0]} shows the text in place." if events else ""
            return f"{_told(next_of(report), decision)}{where}"
        case FixReport(best=str(best)) as report if is_guard(report, best):
            return f"{_told(next_of(report), decision)} It is a proposal: show it to the user, who decides."
        case FixReport(best=str()) as report:
            return f"{_told(next_of(report), decision)} The change is a proposal: show it to the user, who decides."
        case None:
            return f"{_call(job.verb, decision)}."
        case report:
            return _told(next_of(report), decision)


def _told(step: Step, decision: Decision) -> str:
    """A step with the call of the tool that does it."""
    return f"{step.words}." if step.verb is None else f"{step.words}: {_call(step.verb, decision, step.changed)}."


def _call(tool: str, decision: Decision, changed: Mapping[str, object] = MappingProxyType({})) -> str:
    """A call about a decision; recorded text that a caller gave for it is not repeated."""
    given: dict[str, object] = {
        "trace": public_name(decision.trace),
        "event": decision.event,
        "tool": decision.tool,
        "match": decision.match,
        "exact_args": decision.exact_args or None,
        "args": decision.args or None,
        "where": decision.where,
        "judge": decision.judge,
    }
    left_out = _LEFT_OUT.get(tool, ())
    named = {name: value for name, value in given.items() if value is not None and name not in left_out}
    same = [name for name, value in named.items() if not _is_plain(value)]
    spelled = [f"{name}={json.dumps(value)}" for name, value in named.items() if name not in same]
    told = {name: value for name, value in changed.items() if name != "suspects" or _are_plain(value)}
    spelled += [f"{_ARGUMENTS.get(name, name)}={_value(value)}" for name, value in told.items() if name != "budget"]
    others = f" with the same {' and '.join(same)}" if same else ""
    return f"{tool}({', '.join(spelled)}){others}"


_LEFT_OUT: Mapping[str, Collection[str]] = MappingProxyType(
    {
        "rerun": ("tool", "match", "exact_args", "args", "where", "judge"),  # it counts whatever the agent does
        "write_test": ("exact_args",),  # the name of a measured change finds its decision
    }
)
"""Arguments that a tool does not take."""
_ARGUMENTS = {"out": "path"}
"""Names of arguments that are others in the library."""


def _value(value: object) -> str:
    return json.dumps(Fence.words(value, 60) if isinstance(value, str) else value)


def _are_plain(refs: object) -> bool:
    return isinstance(refs, list) and all(isinstance(ref, str) and is_plain(ref) for ref in cast("list[object]", refs))


def _is_plain(value: object) -> bool:
    """Whether it holds names only."""
    if isinstance(value, tuple):
        return all(map(_is_plain, cast("tuple[object, ...]", value)))
    return not isinstance(value, str) or is_plain(value)
