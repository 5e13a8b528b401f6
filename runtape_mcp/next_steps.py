"""What to do next, in words of ours: the last line of every answer.

What a result calls for is said once, in the reports; the state of the job and the spelling of arguments are added here.
"""

from __future__ import annotations

import json
from dataclasses import replace

from runtape.report.fields import next_step as told
from runtape.report.fix_page import is_guard
from runtape.report.results import FixReport, WhyReport

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
    match job.report:
        case WhyReport(stopped_by="budget") | FixReport(stopped_by="budget"):
            return (
                "The reruns that one search may plan are used up; what is proven is above. Ask a narrower question: "
                f"name a text in suspects, or a decision with tool or match. {_spelled(asked.decision)}"
            )
        case WhyReport(causes=[leading, *_]) as report:
            events = [event for event in leading.events if event is not None]
            where = f" show_event with event={events[0]} shows the text in place." if events else ""
            return f"{told(report)} {_spelled(asked.decision)}{where}"
        case FixReport(best=str(best)) as report if is_guard(report, best):
            return f"{told(report)} It is a proposal: show it to the user, who decides."
        case FixReport(best=str(best)) as report:
            # The test takes no exact_args; the name of a measured change finds its decision.
            decision = replace(asked.decision, exact_args=False)
            test = f"fix={json.dumps(Fence.words(best, 60))} and a path such as tests/test_regression.py"
            return (
                f"{told(report)} {_spelled(decision)} For write_test also {test}. "
                "The change is a proposal: show it to the user, who decides."
            )
        case None:
            return _spelled(asked.decision)
        case report:
            return f"{told(report)} {_spelled(asked.decision)}"


def _is_plain(value: str | int | tuple[str, ...]) -> bool:
    """Whether it holds names only."""
    texts = (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ()
    return all(map(is_plain, texts))


def _spelled(decision: Decision) -> str:
    """The arguments that say again which decision is meant; recorded text that a caller gave is not repeated."""
    given: dict[str, str | int | tuple[str, ...] | None] = {
        "trace": public_name(decision.trace),
        "event": decision.event,
        "tool": decision.tool,
        "match": decision.match,
        "exact_args": decision.exact_args or None,
        "args": decision.args or None,
        "where": decision.where,
        "judge": decision.judge,
    }
    named = {name: value for name, value in given.items() if value is not None}
    same = [name for name, value in named.items() if not _is_plain(value)]
    spelled = ", ".join(f"{name}={json.dumps(value)}" for name, value in named.items() if name not in same)
    others = f" and the same {' and '.join(same)}" if same else ""
    return f"The arguments: {spelled}{others}."
