"""Where each part of a request came from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from .. import canon
from ..wire.dialects import dialect_for
from ..wire.values import Json, Slot
from .delta import Step
from .refs import Moment
from .results import Ran, ToolResult, link, tool_runs
from .trace import Trace
from .writers import Writers

OUTSIDE = -1
"""`Origin.index` of a system prompt that stands outside the messages."""
TOOLS = -2
"""`Origin.index` of the list of tools."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where one message, or one tool result in it, came from."""

    event: int
    """The event that first brought it: the `tool_result` of a tool's answer, the `llm_response` that wrote a message of
    the agent, else the first request that held it."""
    index: int
    """The message that this is about; OUTSIDE for the system prompt outside of them, TOOLS for the list of tools."""
    tool: str | None = None
    """The tool whose result it is; None when it is none, or several."""
    block: int | None = None
    """The content block of one of several results in a message; None for the message as a whole."""
    call: int | None = None
    """The `tool_call` event that fetched a result; None where no tool run was recorded."""
    writer: int | None = None
    """The `llm_response` that wrote a message of the agent, or that asked for the call which a result answers."""


class Known:
    """What the origins of every request of a run are read from; make one to ask for many of them."""

    def __init__(self, trace: Trace) -> None:
        self.writers = Writers(trace)
        self._runs = tool_runs(trace.events)
        self._added: defaultdict[str, list[int]] = defaultdict(list)
        for call in trace.calls:
            for message in _added(call.request.payload):
                self._added[canon.digest(message)].append(call.request.id)

    def runs_before(self, event: int) -> list[Ran]:
        """The tool results recorded before an event, in order."""
        return [run for run in self._runs if run.event < event]

    def first_seen(self, step: Step) -> list[int]:
        """For each message of a request that was stored whole, the first request that added it anywhere in the run.

        Programs that trim or rewrite their history send old messages in what looks like a new conversation. A message
        that occurs twice is taken for the first and the second of those that are equal.
        """
        earlier: dict[str, Iterator[int]] = {}
        found: list[int] = []
        for digest in map(canon.digest, step.messages):
            if digest not in earlier:
                earlier[digest] = iter([request for request in self._added.get(digest, ()) if request < step.event])
            found.append(next(earlier[digest], step.event))
        return found


def origins(trace: Trace, moment: Moment, known: Known | None = None) -> tuple[Origin, ...]:
    """One origin for each message of the request, in order.

    Before them that of the tools and that of a system prompt outside of the messages, where there are any. A message
    with several tool results is followed by an origin for each of them.

    Raises:
        BrokenRequest: the request cannot be put together again.
    """
    request = trace.request(moment.request)
    dialect = dialect_for(request.api)
    parts = dialect.split(request.body)
    known = known or Known(trace)
    arrivals = _arrivals(trace, moment, known)
    logged_apart = len(parts.messages) - len(arrivals)
    if logged_apart > 0:  # a system prompt that has become the first message
        arrivals = [_Arrival(_system_event(trace, moment), -1, moment.request.id)] * logged_apart + arrivals
    arrivals = arrivals[: len(parts.messages)]
    slots: list[list[Slot]] = [[] for _ in arrivals]
    for slot in dialect.slots(request.body):
        if 0 <= slot.message < len(slots):
            slots[slot.message].append(slot)
    writers = known.writers
    answers: list[list[ToolResult]] = [_answers(held, arrival) for held, arrival in zip(slots, arrivals, strict=True)]
    linked = link([answer for held in answers for answer in held], known.runs_before(moment.request.id))
    found: list[Origin] = []
    if parts.tools:
        found.append(Origin(_tools_event(trace, moment), TOOLS))
    if parts.system is not None:
        found.append(Origin(_system_event(trace, moment), OUTSIDE))
    for index, (held, arrival) in enumerate(zip(answers, arrivals, strict=True)):
        results = [_of_result(answer, arrival, linked.get(answer), writers) for answer in held]
        if len(results) == 1:
            found += results
            continue
        writer = writers.of_message(slots[index], arrival.held)
        found += [Origin(arrival.event if writer is None else writer, index, writer=writer), *results]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Arrival:
    """How one stored message got into the conversation."""

    event: int
    """The first request of the run that held it."""
    after: int
    """The request before the one that added it; -1 when there is none."""
    before: int
    """The request that added it."""

    @property
    def held(self) -> int:
        """The first request known to have held it."""
        return min(self.event, self.before)


def _of_result(answer: ToolResult, arrival: _Arrival, run: Ran | None, writers: Writers) -> Origin:
    tool = answer.tool if run is None else run.tool or answer.tool
    asking = run.requested_by if run is not None else None
    if asking is None:
        asking = writers.of_call(answer.call_id, tool, arrival.held if run is None or run.call is None else run.call)
    event, call = (arrival.event, None) if run is None else (run.event, run.call)
    return Origin(event, answer.message, tool, answer.block, call, asking)


def _arrivals(trace: Trace, moment: Moment, known: Known) -> list[_Arrival]:
    arrivals: list[_Arrival] = []
    after = -1
    for step in trace.history(moment.request):
        events = known.first_seen(step) if after == -1 else [step.event] * len(step.messages)
        arrivals += [_Arrival(event, after, step.event) for event in events]
        after = step.event
    return arrivals


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


def _tools_event(trace: Trace, moment: Moment) -> int:
    """The first request of the run with the tools of this one."""
    wanted = trace.stored_tools(moment.request)
    for call in trace.calls:
        if trace.stored_tools(call.request) == wanted:
            return call.request.id
    return moment.request.id


def _answers(slots: Sequence[Slot], arrival: _Arrival) -> list[ToolResult]:
    """The tool results in one message."""
    results: dict[tuple[str | None, str | None], list[Slot]] = {}
    for slot in slots:
        if slot.kind == "tool_result":
            results.setdefault((slot.call_id, slot.tool), []).append(slot)
    return [
        ToolResult(
            texts[0].message,
            texts[0].block if len(results) > 1 else None,
            call_id,
            texts[0].tool,
            "".join(slot.text for slot in texts if slot.form == "text"),
            arrival.after,
            arrival.before,
        )
        for (call_id, _), texts in results.items()
    ]
