"""Where each message of a request came from."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from .. import canon
from ..wire.dialects import dialect_for
from ..wire.values import Json, Slot
from .delta import Step
from .refs import Moment
from .results import Answer, link, tool_runs
from .trace import Trace

OUTSIDE = -1
"""`Origin.index` of a system prompt that stands outside the messages."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where one message came from."""

    event: int
    """The event that first brought it: the `tool_result` of a tool's answer, else the first request that held it."""
    index: int
    """Which message of the request this is about; -1 for the system prompt outside of them."""
    tool: str | None = None
    """The tool whose result it is; None when it is none, or several."""


def origins(trace: Trace, moment: Moment) -> tuple[Origin, ...]:
    """One origin for each message of the request, in order; before them that of a system prompt outside of them.

    Raises:
        BrokenRequest: the request cannot be put together again.
    """
    request = trace.request(moment.request)
    dialect = dialect_for(request.api)
    parts = dialect.split(request.body)
    arrivals = _arrivals(trace, moment)
    logged_apart = len(parts.messages) - len(arrivals)
    if logged_apart > 0:  # a system prompt that has become the first message
        arrivals = [_Arrival(_system_event(trace, moment), -1, moment.request.id)] * logged_apart + arrivals
    found = [Origin(arrival.event, index) for index, arrival in enumerate(arrivals[: len(parts.messages)])]
    answers = _answers(dialect.slots(request.body), arrivals)
    for index, run in link(answers, tool_runs(trace.events, moment.request.id)).items():
        found[index] = Origin(run.event, index, run.tool)
    for answer in answers:
        if found[answer.message].tool is None:
            found[answer.message] = replace(found[answer.message], tool=answer.tool)
    if parts.system is not None:
        found.insert(0, Origin(_system_event(trace, moment), OUTSIDE))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Arrival:
    """How one stored message got into the conversation."""

    event: int
    after: int
    """The request before the one that added it; -1 when there is none."""
    before: int
    """The request that added it."""


def _arrivals(trace: Trace, moment: Moment) -> list[_Arrival]:
    arrivals: list[_Arrival] = []
    after = -1
    for step in trace.history(moment.request):
        events = _first_seen(trace, step) if after == -1 else [step.event] * len(step.messages)
        arrivals += [_Arrival(event, after, step.event) for event in events]
        after = step.event
    return arrivals


def _first_seen(trace: Trace, step: Step) -> list[int]:
    """For each message of a request that was stored whole, the first request that added it anywhere in the run.

    Programs that trim or rewrite their history send old messages in what looks like a new conversation. A message
    that occurs twice is taken for the first and the second of those that are equal.
    """
    earlier: defaultdict[str, deque[int]] = defaultdict(deque)
    for call in trace.calls:
        if call.request.id < step.event:
            for message in _added(call.request.payload):
                earlier[canon.digest(message)].append(call.request.id)
    found: list[int] = []
    for message in step.messages:
        same = earlier[canon.digest(message)] if earlier else None
        found.append(same.popleft() if same else step.event)
    return found


def _added(payload: dict[str, Json]) -> Iterable[Json]:
    added = payload.get("messages" if payload.get("base") is None else "messages_append")
    return added if isinstance(added, list) else ()


def _system_event(trace: Trace, moment: Moment) -> int:
    """The first request of the run with the system prompt of this one."""
    wanted = trace.stored_system(moment.request)
    for call in trace.calls:
        if trace.stored_system(call.request) == wanted:
            return call.request.id
    return moment.request.id


def _answers(slots: Iterable[Slot], arrivals: Sequence[_Arrival]) -> list[Answer]:
    """The messages that hold exactly one tool result; several in one message have no one event."""
    results: dict[int, dict[str | None, list[Slot]]] = {}
    for slot in slots:
        if slot.kind == "tool_result" and 0 <= slot.message < len(arrivals):
            results.setdefault(slot.message, {}).setdefault(slot.call_id, []).append(slot)
    return [
        Answer(
            message,
            call_id,
            texts[0].tool,
            "".join(slot.text for slot in texts),
            arrivals[message].after,
            arrivals[message].before,
        )
        for message, by_call in results.items()
        if len(by_call) == 1
        for call_id, texts in by_call.items()
    ]
