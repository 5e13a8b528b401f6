"""A place in a recorded run, and what each word of `runtape browse` shows there."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ..context.seen import seen
from ..errors import BadInput
from ..report.comparison_page import comparison_page
from ..report.context_page import context_page
from ..report.document import Document, Paragraph, Recorded, Table
from ..report.glimpse_page import glimpse_page
from ..report.search_page import search_page
from ..report.trace_page import event_page, timeline_page
from ..trace.comparison import compare
from ..trace.refs import Moment, resolve
from ..trace.search import search
from ..trace.trace import Trace
from . import options
from .show import event_meant

_LISTED = 20
"""Events of a `list`, and texts of a `search`."""


@dataclass(frozen=True, slots=True)
class Word:
    """One thing to ask for; its first letters will do."""

    argument: str
    line: str


WORDS: Final = {
    "next": Word("[N | KIND]", "The next event (Enter does the same), the N-th from here, or the next of a kind."),
    "back": Word("[N | KIND]", "The event before, the N-th before, or the one of a kind before."),
    "goto": Word("EVENT", "An event by its number, `tool:NAME` (its last call) or `last`; the event alone will do."),
    "list": Word("", "The events around this one."),
    "all": Word("", "This event whole."),
    "context": Word("", "What the model saw at this decision, in pieces with their references."),
    "search": Word(
        "[TEXT]", "Where a text entered the run, and go there; without a text, the next event that holds it."
    ),
    "diff": Word("[EVENT]", "How this decision's context differs from that of the decision before, or of another."),
    "why": Word("[DEPTH]", "What made the model do this, by reruns; tells the cost and asks first."),
    "help": Word("", "This list."),
    "quit": Word("", "Leave; so do Ctrl-D and Ctrl-C."),
}


class Walk:
    """Where one is in a run. `say` takes a line and gives the page that answers it."""

    def __init__(self, trace: Trace, why: Callable[[int, str], Document]) -> None:
        """Begin at the first event.

        Args:
            trace: The run.
            why: Explains the decision of an event, to a depth of `runtape why`.
        """
        self.trace = trace
        self.position = 0
        self._why = why
        self._hits: list[int] = []
        """Positions of the events that hold the text that was last looked for, in order."""
        self._term = ""

    @property
    def event(self) -> int:
        """The number of the event one is at."""
        return self.trace.events[self.position].id

    def say(self, line: str) -> Document | None:
        """The answer to one line; None to leave.

        Raises:
            RuntapeError: it cannot be done; one is where one was.
        """
        word, argument = self._understood(line)
        match word:
            case "quit":
                return None
            case "next":
                return self._step(argument, 1)
            case "back":
                return self._step(argument, -1)
            case "goto":
                return self._goto(argument)
            case "list":
                return self._around()
            case "all":
                return event_page(self.trace, self.trace.events[self.position])
            case "context":
                moment = self._moment()
                return context_page(self.trace.name, moment, seen(self.trace, moment))
            case "search":
                return self._search(argument)
            case "diff":
                return self._diff(argument)
            case "why":
                return self._why(self._decision(), argument or "quick")
            case _:
                rows = tuple(((f"{name} {word.argument}".strip(),), (word.line,)) for name, word in WORDS.items())
                return (Table(("say", "to see"), rows), Paragraph(("The first letter of a word will do.",)))

    def here(self) -> Document:
        """The event one is at, in short."""
        return glimpse_page(self.trace, self.position)

    def _understood(self, line: str) -> tuple[str, str]:
        """The word that is meant, and what follows it."""
        said, _, argument = line.strip().partition(" ")
        if not said:
            return "next", ""
        if said.isdecimal() or said.startswith("tool:") or said == "last":
            return "goto", line.strip()
        meant = next((word for word in WORDS if word.startswith(said.lower())), None)
        if meant is None:
            near = difflib.get_close_matches(said.lower(), WORDS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise BadInput(f"{said[:40]!r} is no word here; `help` lists them.{hint}")
        return meant, argument.strip()

    def _step(self, argument: str, direction: int) -> Document:
        if argument and not argument.isdecimal():
            return self._step_to(argument, direction)
        wanted = self.position + direction * int(argument[:12] or 1)
        reached = max(0, min(len(self.trace.events) - 1, wanted))
        if reached == self.position:
            return (Paragraph(("This is the last event." if direction > 0 else "This is the first event.",)),)
        return self._at(reached)

    def _step_to(self, kind: str, direction: int) -> Document:
        events = self.trace.events
        ahead = range(self.position + 1, len(events)) if direction > 0 else range(self.position - 1, -1, -1)
        for position in ahead:
            if events[position].type == kind:
                return self._at(position)
        where = "after" if direction > 0 else "before"
        raise BadInput(f"no event of the kind {kind[:40]!r} stands {where} this one; `list` shows kinds of events.")

    def _goto(self, argument: str) -> Document:
        if not argument:
            raise BadInput("goto where? Give an event number, `tool:NAME` or `last`.")
        return self._at(self._position_of(event_meant(self.trace, options.event_reference(argument)).id))

    def _position_of(self, number: int) -> int:
        return next(at for at, event in enumerate(self.trace.events) if event.id == number)

    def _at(self, position: int) -> Document:
        self.position = position
        return self.here()

    def _around(self) -> Document:
        events = self.trace.events
        first = max(0, min(self.position - _LISTED // 2, len(events) - _LISTED))
        here = Paragraph((f"You are at event {self.event}.",))
        return (*timeline_page(self.trace, events[first : first + _LISTED], first), here)

    def _search(self, term: str) -> Document:
        if not term:
            return self._next_hit()
        found = search(self.trace, term)
        page = search_page(self.trace.name, term, found, _LISTED)
        if not found:
            return page
        holding = {one.passage.event for one in found}
        self._hits = [at for at, event in enumerate(self.trace.events) if event.id in holding]
        self._term = term
        return (*page, *self._at(self._hits[0]))

    def _next_hit(self) -> Document:
        if not self._hits:
            raise BadInput("search for what? Give a text.")
        later = next((at for at in self._hits if at > self.position), None)
        if later is None:
            again = Paragraph(("No later event holds ", Recorded(self._term), "; the first one that does:"))
            return (again, *self._at(self._hits[0]))
        return self._at(later)

    def _diff(self, argument: str) -> Document:
        moment = self._moment()
        number = moment.response.id
        other = resolve(self.trace, options.event_reference(argument)) if argument else self._before(number)
        compared = compare(self.trace, other, moment)
        return comparison_page(self.trace.name, other.response.id, number, compared)

    def _before(self, number: int) -> Moment:
        for call in reversed(self.trace.calls):
            if call.response is not None and call.response.id < number:
                return Moment(call.request, call.response, None, None)
        raise BadInput("no decision comes before this one; give the event of one to compare it with.")

    def _moment(self) -> Moment:
        return resolve(self.trace, self.event)

    def _decision(self) -> int:
        self._moment()
        return self.event
