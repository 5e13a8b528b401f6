"""Records one run of an agent into a trace file."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, final, overload

from ..errors import BadInput
from ..jsonable import jsonable
from ..trace.redact import Redact, redactor
from ..trace.writer import Writer
from ..wire.values import JsonObject
from . import by_hand, playing, seam
from .clients import http_clients
from .failure import failure
from .guard import Guard, said, tell
from .journal import Journal
from .naming import file_path, run_start
from .run import UNNUMBERED, Run, enter, leave
from .tools import recorded

DISABLED = "RUNTAPE_DISABLED"
"""Environment variable that turns recording off; any value but empty, `0` and `false`."""


def is_disabled() -> bool:
    """Whether the environment turns recording off."""
    return os.environ.get(DISABLED, "").lower() not in ("", "0", "false")


C = TypeVar("C")
F = TypeVar("F", bound=Callable[..., Any])


def record(
    path: str | os.PathLike[str] | None = None,
    *,
    name: str | None = None,
    dir: str | os.PathLike[str] | None = None,
    tags: Mapping[str, Any] | None = None,
    redact: Redact | None = None,
    capture: bool = False,
    strict: bool = False,
) -> Recorder:
    """Start recording a run; a context manager that ends it.

    Recording never changes what the program sees and never raises into it: what cannot be recorded is counted, and told
    once on standard error. `RUNTAPE_DISABLED=1` turns it off: the recorder then does nothing and writes no file.

    Args:
        path: The trace file; a new one in `dir` by default. When the file exists, a new one beside it is written.
        name: What the run is called; by default like its file or the program.
        dir: The folder for the trace; by default `$RUNTAPE_DIR`, else `./traces`.
        tags: Anything to find the run by.
        redact: A function from an event (`{"type", "payload", "meta"}`) to the event as it may be written, after known
            secrets were taken out. When it raises, the event's content is dropped.
        capture: Record the model calls of every HTTP client of this thread or task, wrapped or not.
        strict: Raise when the file cannot be made or a client cannot be recorded, instead of going on without.

    Raises:
        OSError: with `strict`, the file cannot be made.
        TypeError: with `strict`, an argument is of the wrong type.
    """
    off = is_disabled()
    try:
        run_path = None if path is None else Path(path)
        place = file_path(run_path, name, dir)
        if off:
            return Recorder(place, None, strict=False)
        guard = Guard()
        writer = Writer.create(place)
        if writer.error is not None:
            if strict:
                raise writer.error  # noqa: TRY301 -- the arms differ in what is told
            return Recorder(writer.path, None, strict=False)
        captures = bool(capture)
        run = Run(Journal(writer, redactor(redact), guard, keeps_streams=redact is None), guard)
        run.append("run_start", run_start(run_path, name, tags))
        recorder = Recorder(writer.path, run, strict=strict)
    except Exception as error:  # an argument that is no path, a working directory that is gone: the program goes on
        if strict:
            raise
        if not off:
            tell(f"this run is not recorded: {said(error)}")
        return Recorder(Path("not-recorded.jsonl"), None, strict=False)
    if captures:
        with guard:
            seam.tap_all(run)
    return recorder


@final
class Recorder:
    """One run being recorded; made by `record`. Usable from any thread or task."""

    path: Path
    """The trace file; while recording is off, where it would have been."""

    def __init__(self, path: Path, run: Run | None, *, strict: bool) -> None:
        self.path = path
        self._run = run
        self._strict = strict
        self._started = time.monotonic()
        self._before: Run | None = None
        self._closing = threading.Lock()
        if run is not None:
            self._before = enter(run)
            atexit.register(self._at_exit)

    def __enter__(self) -> Recorder:
        if self._run is not None and self._run.active:
            # Once more: the block may be in another thread or task than the call of `record`.
            self._before = enter(self._run) or self._before
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.error(error)
        self.close("ok" if error is None else "error")

    def __copy__(self) -> Recorder:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Recorder:
        return self

    def __reduce__(self) -> tuple[Callable[[str], Recorder], tuple[str]]:
        return _elsewhere, (str(self.path),)

    def wrap(self, client: C) -> C:
        """Record the model calls that `client` sends; returns the same object.

        Takes the clients of the OpenAI and Anthropic SDKs, sync and async, LangChain chat models that hold one, and
        plain `httpx` clients. Copies made with `with_options()` and `copy()` are recorded with it.

        Raises:
            BadInput: with `strict`, the client does not send through `httpx`.
        """
        run = self._run
        if run is None or not run.active:
            return client
        try:
            found = http_clients(client)
            for http in found:
                seam.tap(http, run)
            trouble = None if found else "it holds no httpx client; use record(capture=True) or rec.log_llm_request"
        except Exception as error:  # noqa: BLE001 -- a foreign object that lets nothing be replaced; the program goes on
            trouble = said(error)
        if trouble is not None:
            message = f"cannot record a {type(client).__name__}: {trouble}"
            if self._strict:
                raise BadInput(message)
            run.told = True
            tell(message)
        return client

    @overload
    def tool(self, function: F, /, *, name: str | None = None) -> F: ...
    @overload
    def tool(self, /, *, name: str | None = None) -> Callable[[F], F]: ...
    def tool(self, function: F | None = None, /, *, name: str | None = None) -> F | Callable[[F], F]:
        """Decorate a tool so that its calls are recorded: arguments, result or error, time taken.

        Takes functions, coroutines, generators of both kinds, methods, partials and callable objects, and gives back
        one that behaves the same. `name` is what the model calls the tool, where the function is called otherwise.
        """

        def decorate(tool: F) -> F:
            if self._run is None and not playing.active:
                return tool
            try:
                decorated: F = recorded(tool, self._run, name)
            except Exception as error:  # noqa: BLE001 -- a foreign object; the program goes on with it
                if self._run is not None:
                    self._run.told = True
                tell(f"cannot record the calls of a {type(tool).__name__}: {said(error)}")
                return tool
            return decorated

        return decorate if function is None else decorate(function)

    def langchain(self) -> Any:
        """A callback handler for LangChain and LangGraph (`config={"callbacks": [rec.langchain()]}`).

        It records models that do not send through httpx, and every tool run. What `wrap` or `capture` records of a
        model call is not recorded twice.

        Raises:
            ImportError: LangChain is not installed.
        """
        from .langchain import handler  # LangChain is the program's own, and loaded only then

        return handler(self._run)

    def log_llm_request(
        self,
        *,
        provider: str,
        api: str,
        model: str | None,
        messages: Iterable[Any],
        system: Any = None,
        tools: Any = None,
        params: Mapping[str, Any] | None = None,
        endpoint: str | None = None,
    ) -> int:
        """Record a model call that the program makes by other means; the event number for `log_llm_response`.

        `api` (`chat.completions`, `responses`, `messages`) is the shape of `messages`, and the API that a rerun uses.
        """
        if self._run is None:
            return UNNUMBERED
        with self._run.guard:
            self._run.logged = True
            facts = by_hand.facts(provider, api, endpoint)
            return self._run.request(facts, by_hand.request_parts(model, messages, system, tools, params))
        return UNNUMBERED

    def log_llm_response(  # noqa: PLR0917 -- a public signature
        self,
        request_id: int,
        text: str | None = None,
        tool_calls: Iterable[Mapping[str, Any]] = (),
        stop_reason: str | None = None,
        raw: Any = None,
        latency_ms: float | None = None,
    ) -> int:
        """Record the reply to a logged request; its event number.

        `tool_calls` are `{"id", "name", "arguments"}`; `raw` is the response body, if there is one.
        """
        if self._run is None:
            return UNNUMBERED
        with self._run.guard:
            payload = by_hand.reply(text, tool_calls, stop_reason, raw)
            meta: JsonObject = {} if latency_ms is None else {"latency_ms": jsonable(latency_ms)}
            number = self._run.append("llm_response", payload, meta=meta, parent=by_hand.number(request_id, payload))
            self._run.asked.add(number, by_hand.wanted(payload))
            return number
        return UNNUMBERED

    def state(self, key: str, value: Any) -> int:
        """Record that a part of the agent's state (a plan, a memory) is now `value`; the event number."""
        return self._append("state", {"key": key, "value": value})

    def note(self, message: str, **facts: Any) -> int:
        """Record a remark; the event number."""
        return self._append("log", {"message": message, **facts})

    def error(self, exc: BaseException) -> int:
        """Record an exception that the agent met; the event number."""
        if self._run is None:
            return UNNUMBERED
        with self._run.guard:
            return self._run.append("error", failure(exc))
        return UNNUMBERED

    def close(self, status: str = "ok") -> None:
        """End the run. Replies that are still being read are recorded as far as they were read."""
        run = self._run
        if run is None or not self._closing.acquire(blocking=False):
            return
        atexit.unregister(self._at_exit)
        with run.guard:
            leave(run, self._before)
            seam.release(run)
        run.end({"status": jsonable(status), "duration_ms": round((time.monotonic() - self._started) * 1000, 1)})
        if run.unseen:
            tell(f"{self.path.name} lacks {run.unseen} of the model calls; pass their clients to rec.wrap(client) too")
        if not run.model_calls and not run.told:
            tell(f"{self.path.name} holds no model call; pass the agent's client to rec.wrap(client)")

    def _append(self, kind: str, payload: Mapping[str, Any]) -> int:
        if self._run is None or not self._run.active:
            return UNNUMBERED
        with self._run.guard:
            kept = jsonable(payload)
            return self._run.append(kind, kept if isinstance(kept, dict) else {})
        return UNNUMBERED

    def _at_exit(self) -> None:
        # The interpreter keeps the exception that ended the program; at a prompt it is one that the person has seen.
        error = None if hasattr(sys, "ps1") else getattr(sys, "last_value", None)
        if isinstance(error, BaseException):
            self.error(error)
        self.close("ok" if error is None else "error")


def _elsewhere(path: str) -> Recorder:
    """What a pickled recorder becomes: a file is written by the process that began it."""
    tell(f"a copy of the recorder of {Path(path).name} records nothing here: call runtape.record() in this process")
    return Recorder(Path(path), None, strict=False)
