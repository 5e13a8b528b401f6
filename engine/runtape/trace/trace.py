"""One recorded run, read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import EventNotFound, NotADecision
from ..text import shorten
from ..wire.dialect import UnreadableReply
from ..wire.dialects import dialect_for, logged_reply
from ..wire.values import Json, Parts, Reply, Request
from .calls import Call, nearest
from .delta import Expander, Listed, Step
from .disk import Disk
from .events import Event
from .fidelity import Fidelity, fidelity_in
from .memory import Memory
from .reader import Problem, Reading, read
from .summary import Summary, summary_of


class Trace:
    """The events of one run, and the model calls in them.

    Wherever a method takes an event, an `Event` or its number will do.
    """

    path: Path
    """The file it was read from."""
    events: Sequence[Event]
    """In file order, each number once. Of a large file they are read when they are looked at."""
    calls: Sequence[Call]
    """The model calls, in file order."""
    problems: list[Problem]
    """What was wrong with the file."""
    truncated: bool
    """True when the file's last line is cut off."""

    def __init__(self, path: Path, reading: Reading) -> None:
        self.path = path
        self.events = reading.events
        self.problems = reading.problems
        self.truncated = reading.truncated
        self._table = reading.events if isinstance(reading.events, Disk) else Memory(reading.events)
        self.calls = self._table.calls
        self._expander = Expander(self._table.calls if isinstance(self._table, Disk) else Listed(self.events))

    @classmethod
    def load(cls, path: str | Path) -> Trace:
        """The trace in the file at `path`.

        Raises:
            TraceNotFound: there is no such file.
            TraceUnreadable: it cannot be opened, or holds no usable event.
        """
        return cls(Path(path), read(Path(path)))

    @property
    def name(self) -> str:
        """The file's name without its ending, by which a `Store` finds it."""
        return self.path.stem

    def summary(self) -> Summary:
        """The run at a glance."""
        return summary_of(self.path, self.events, len(self.problems), self._table)

    def event(self, number: int) -> Event:
        """The event of that number.

        Raises:
            EventNotFound: there is none.
        """
        found = self._table.event(number)
        if found is None:
            raise EventNotFound(
                f"trace {self.name!r} has no event {number}; its events are {self.events[0].id} to "
                f"{max(event.id for event in self.events)}, {len(self.events)} in all"
            )
        return found

    def call(self, event: Event | int) -> Call | None:
        """The model call that an `llm_request` or `llm_response` belongs to; None for other events."""
        return self._table.call(event if isinstance(event, int) else event.id)

    def request(self, event: Event | int) -> Request:
        """The model call of an `llm_request` or `llm_response` as it was sent.

        Raises:
            EventNotFound: there is no event of that number.
            NotADecision: the event belongs to no request.
            BrokenRequest: the request cannot be put together again.
        """
        asked = self._asked(event)
        payload = asked.payload
        api, endpoint = _text(payload.get("api")) or "chat.completions", _text(payload.get("endpoint"))
        body = dialect_for(api).join(self._expander.parts(asked.id))
        return Request(_text(payload.get("provider")) or "", api, endpoint, body)

    def context(self, event: Event | int) -> Parts:
        """The body of that request taken apart: what the model saw.

        Raises:
            EventNotFound: there is no event of that number.
            NotADecision: the event belongs to no request.
            BrokenRequest: the request cannot be put together again.
        """
        request = self.request(event)
        # Of the body and not of the stored parts: a system prompt logged by hand is a message by then.
        return dialect_for(request.api).split(request.body)

    def reply(self, event: Event | int) -> Reply:
        """The reply of an `llm_response`, or to an `llm_request`; of several choices the first.

        Raises:
            EventNotFound: there is no event of that number.
            NotADecision: no reply was recorded, or what came back was none.
        """
        asked = self._asked(event)
        call = self.call(asked)
        if call is None or call.response is None:
            raise NotADecision(f"the model call of event {asked.id} has no recorded reply")
        response = call.response.payload
        try:
            return dialect_for(_text(asked.payload.get("api")) or "").replies(response.get("raw"))[0]
        except UnreadableReply as unreadable:
            text, calls = response.get("text"), response.get("tool_calls")
            if text is None and not calls:
                why = _failure(response.get("error")) or _text(response.get("unparsed")) or str(unreadable)
                raise NotADecision(f"event {call.response.id} holds no reply of a model: {why}") from None
            return self._logged(call.response.id, text, calls, response.get("stop_reason"))

    def fidelity(self, event: Event | int) -> Fidelity:
        """How truly the trace holds the request of a model call: `exact` for one that was recorded here.

        Raises:
            EventNotFound: there is no event of that number.
            NotADecision: the event belongs to no request.
        """
        return fidelity_in(self._asked(event).meta)

    def history(self, event: Event | int) -> list[Step]:
        """How the request came about: the requests that it builds on, oldest first, each with what it added.

        The messages are those stored; `context` has one more where a system prompt was logged apart from them.

        Raises:
            EventNotFound: there is no event of that number.
            NotADecision: the event belongs to no request.
            BrokenRequest: the request cannot be put together again.
        """
        return self._expander.history(self._asked(event).id)

    def stored_system(self, event: Event | int) -> Json:
        """The system prompt of the request where it is stored apart from the messages; None otherwise.

        Raises:
            EventNotFound: there is no event of that number.
            NotADecision: the event belongs to no request.
        """
        return self._expander.system(self._asked(event).id)

    def stored_tools(self, event: Event | int) -> Json:
        """The tools that the request offers, as stored; None when it offers none.

        Raises:
            EventNotFound: there is no event of that number.
            NotADecision: the event belongs to no request.
        """
        return self._expander.tools(self._asked(event).id)

    def _asked(self, event: Event | int) -> Event:
        found = self.event(event) if isinstance(event, int) else event
        call = self.call(found)
        if call is None:
            raise NotADecision(
                f"event {found.id} is a {found.type} event and belongs to no request; {nearest(self.calls, found.id)}"
            )
        return call.request

    @staticmethod
    def _logged(number: int, text: Json, calls: Json, stop_reason: Json) -> Reply:
        try:
            return logged_reply(_text(text), calls if isinstance(calls, list) else (), _text(stop_reason))
        except UnreadableReply as unreadable:
            raise NotADecision(f"event {number} holds no reply of a model: {unreadable}") from unreadable


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _failure(error: Json) -> str | None:
    if not isinstance(error, dict):
        return _text(error)
    told = [part for part in (_text(error.get("type")), _text(error.get("message"))) if part]
    return shorten(": ".join(told), _LONGEST_REASON) if told else None


_LONGEST_REASON = 300
