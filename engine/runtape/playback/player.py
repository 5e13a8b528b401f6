"""Plays a recorded run back to the agent that made it: recorded replies and tool results in place of real ones."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Any, Literal, TypeVar, final, overload

from ..canon import loads
from ..errors import BadInput, ReplayDiverged
from ..record import seam
from ..record.clients import http_clients, library
from ..record.exchange import RETRY_COUNT
from ..record.guard import said, tell
from ..record.playing import Visit
from ..record.stand_in import Make
from ..record.taps import unlisten
from ..trace.lookup import find_trace
from ..trace.trace import Trace
from ..wire.dialects import dialect_of_path
from .answers import answer_to
from .divergence import Divergence, Stop
from .elsewhere import Announcement
from .model_calls import ModelCalls
from .responses import response_to
from .tool_runs import RecordedRun, ToolRuns
from .tools import played, playing
from .unrecorded import belongs, foreign, told, unrecorded

C = TypeVar("C")
F = TypeVar("F", bound=Callable[..., Any])


def replay(
    trace: str | os.PathLike[str] | Trace, *, on_diverge: Literal["stop", "live"] = "stop", capture: bool = False
) -> Replayer:
    """Play a recorded run back; a context manager.

    The agent's own code runs against the record: no model is asked and no decorated tool runs. Requests and tool
    arguments are compared with what was recorded, known secrets taken out; equal ones are answered in their order.

    While the block runs, no model call of this process leaves it through httpx, whichever client makes it, nor does any
    other request of a client that is wrapped: what the record does not hold is a divergence.

    Args:
        trace: A path, a Trace, the name of a trace in $RUNTAPE_DIR (`./traces`), or `last`.
        on_diverge: At the first model or tool call that is not in the record, `stop` ends the block with
            ReplayDiverged, whatever the agent catches; `live` says so on standard error and lets that call and all
            later ones go to the real model and the real tools.
        capture: Play to every HTTP client of the process as if it were wrapped, and to every tool that is decorated
            with `Recorder.tool`: a program that records itself is played back unchanged. Of clients that are not an
            SDK's, requests that only read (GET) are sent.

    Raises:
        BadInput: there is no such trace, or no such value of `on_diverge`.
    """
    if on_diverge not in ("stop", "live"):
        raise BadInput(f"on_diverge={on_diverge!r} is neither 'stop' nor 'live'.")
    recorded = trace if isinstance(trace, Trace) else Trace.load(find_trace(trace))
    return Replayer(recorded, live=on_diverge == "live", capture=capture)


@final
class Replayer:
    """One run being played back; made by `replay`. Usable from any thread or task."""

    divergence: Divergence | None
    """The first step of the agent that is not in the record; None as long as there is none."""

    def __init__(self, trace: Trace, *, live: bool, capture: bool) -> None:
        self.divergence = None
        self._name = trace.name
        self._model_calls = ModelCalls(trace)
        self._tool_runs = ToolRuns(trace)
        self._live = live
        self._capture = capture
        self._lock = threading.Lock()
        self._visit: Visit | None = None
        self._ended = False
        self._announcement: Announcement | None = None
        self._sent: set[str] = set()

    def __repr__(self) -> str:
        """The trace, and how far it has been played."""
        state = "as recorded so far" if self.divergence is None else f"diverged at {self.divergence.step}"
        return f"<Replayer of {self._name!r}: {state}, {len(self.left)} recorded calls left>"

    def __enter__(self) -> Replayer:
        if self._visit is None:
            self._ended = False
            seam.tap_all(self)
            self._visit = Visit(self)
            if not self._live:
                self._announcement = Announcement(self._name)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if isinstance(error, Stop) and error.process != os.getpid():
            self.divergence = self.divergence or error.divergence
        if self.divergence is not None and not self._live:
            raise ReplayDiverged(str(self.divergence)) from (None if isinstance(error, Stop) else error)

    def close(self) -> None:
        """Give the clients back what they were. Tasks that it leaves running still call nobody."""
        self._ended = True
        visit, self._visit = self._visit, None
        if self._announcement is not None:
            self._announcement.end()
            self._announcement = None
        if visit is None:
            seam.release(self)
        else:
            unlisten(self)
            visit.end(lambda: seam.release(self))

    @property
    def substitute(self) -> Make | None:
        """See `Player`."""
        return playing(self.take_run) if self._capture else None

    @property
    def left(self) -> list[int]:
        """Events of the recorded model calls and tool runs that the agent has not made again, in order."""
        return sorted([*self._model_calls.left, *self._tool_runs.left])

    def wrap(self, client: C) -> C:
        """Answer the model calls that `client` sends; returns the same object. Nothing else that it sends is sent.

        Takes what `Recorder.wrap` takes. Copies of the client are wrapped with it.

        Raises:
            BadInput: the client does not send through `httpx`; nothing could keep its calls from being made.
        """
        clients = http_clients(client)
        if not clients:
            raise BadInput(
                f"cannot replay to a {type(client).__name__}: it holds no httpx client. Use replay(..., capture=True)."
            )
        for http in clients:
            seam.tap(http, self)
        return client

    @overload
    def tool(self, function: F, /, *, name: str | None = None) -> F: ...
    @overload
    def tool(self, /, *, name: str | None = None) -> Callable[[F], F]: ...
    def tool(self, function: F | None = None, /, *, name: str | None = None) -> F | Callable[[F], F]:
        """Decorate a tool so that its recorded results are given and it is not run.

        A result becomes what the tool's return annotation says, where that would be recorded the same. What the tool
        raised is raised again: as the exception of that name that Python or the tool's module has, else as
        RecordedToolError.
        """

        def decorate(tool: F) -> F:
            decorated: F = played(tool, self.take_run, name)
            return decorated

        return decorate if function is None else decorate(function)

    def take_run(self, name: str, arguments: dict[str, Any]) -> RecordedRun | None:
        """The recorded run of a tool call, once; None when the tool is to be run: the replay has gone live."""
        if self.divergence is not None and self._is_live():
            return None
        found = self._tool_runs.take(name, arguments)
        if isinstance(found, RecordedRun):
            return found
        self._diverge(found)
        return None

    def play(self, request: Any, *, wrapped: bool, leaving: bool) -> Any:
        """See `Player`."""
        if library(request) is None:
            return None if self._is_live() else self._diverge(foreign(request))
        dialect = dialect_of_path(request.url.path) if request.method == "POST" else None
        if dialect is None:
            if belongs(request, wrapped=wrapped, capture=self._capture, leaving=leaving):
                self._refuse(request)
            return None
        if self._is_live():
            return None
        try:
            body = loads(request.content)
        except Exception as error:  # noqa: BLE001 -- no JSON, or a stream that only the library may read
            return self._diverge(Divergence("model call", f"its body cannot be read ({said(error)})."))
        if not isinstance(body, dict):
            return self._diverge(Divergence("model call", "its body is no JSON object."))
        again = request.headers.get(RETRY_COUNT) not in (None, "0")
        call = self._model_calls.take(dialect.api, body, again=again)
        if isinstance(call, Divergence):
            alone = " Its client is not one that the replay was given." if not (wrapped or self._capture) else ""
            return self._diverge(replace(call, reason=f"{call.reason}{alone}"))
        answer = answer_to(call)
        if answer is None:
            return self._diverge(Divergence("model call", "the record holds no answer to it.", call.event))
        late = Divergence("model call", "it was cancelled when it was recorded, and is waited for now.", call.event)
        return response_to(request, answer, lambda: self._diverge(late))

    def _refuse(self, request: Any) -> None:
        """Stop at a request that no record can answer; a replay that may go live lets it through, and says so once."""
        if not self._is_live():
            if not self._live:
                self._diverge(unrecorded(request))
            if (what := told(request)) not in self._sent:
                self._sent.add(what)
                tell(f"{what} is no model call, so that no record holds its answer; it is sent.")

    def _is_live(self) -> bool:
        """Whether calls go through. In a stopped replay none does any more, nor in what a replay left running."""
        if self.divergence is None and not self._ended:
            return False
        if self._live:
            return True
        if self.divergence is None:
            tell("a model call was refused: it is made by a task that goes on after the replay that it began in.")
        raise Stop(self.divergence or Divergence("model call", "the replay has ended."))

    def _diverge(self, divergence: Divergence) -> None:
        with self._lock:
            first = self.divergence is None
            if first:
                self.divergence = divergence
        if not self._live:
            raise Stop(divergence)
        if first:
            tell(f"the replay goes live from here on.\n{divergence}")
