"""One HTTP exchange with a model, turned into an `llm_request` and an `llm_response` event."""

from __future__ import annotations

from typing import Any

from ..wire.dialect import Dialect
from ..wire.dialects import dialect_of_path
from ..wire.values import JsonObject
from .attempt import Attempt
from .clients import library
from .guard import said
from .journal import Body, UnreadableBody
from .response import ERROR_STATUS, Received, response_event
from .run import Run, held
from .watched import watched

RETRY_COUNT = "x-stainless-retry-count"
"""Header in which the SDKs of OpenAI and Anthropic number the attempts of one call, from 0 on."""

RETRIED = frozenset({408, 409, 429})
"""Statuses after which these SDKs try again, besides the server's own errors."""

SERVER_ERROR = 500

PROVIDERS = {"messages": "anthropic"}
"""Whose API it is; every other one is OpenAI's, whoever serves it."""


def begin(run: Run, request: Any, *, attributed: bool) -> Attempt | None:
    """Write the `llm_request` of an HTTP request that is about to be sent; None when it is no model call.

    Raises:
        Exception: the request is of an unknown kind.
    """
    if getattr(request, "method", None) != "POST":
        return None
    path: str = request.url.path
    dialect = dialect_of_path(path)
    if dialect is None:
        return None
    meta: JsonObject = {} if attributed else {"unattributed": True}
    try:
        content: bytes = request.content
    except Exception as error:  # noqa: BLE001 -- a stream that only the library may read
        _note_unread(run, path, f"{type(error).__name__}: {said(error)}", meta)
        return None
    count = request.headers.get(RETRY_COUNT)
    waiting = held.get()
    if isinstance(waiting, Call) and waiting.run is run and count not in (None, "0") and waiting.content == content:
        held.set(None)
        return waiting.again()
    try:
        number = run.request(_facts(dialect, request.url), Body(dialect, content), meta=meta)
    except UnreadableBody as error:
        _note_unread(run, path, str(error), meta)
        return None
    watch = watched.get()
    if watch is not None:
        watch.model_calls += 1
    return Call(run, dialect, number, content, retries=count is not None).again()


def missed(run: Run, request: Any) -> bool:
    """Count a model call that is made during `run` through a client that it was not given; whether it is one.

    Not one that the program or a callback records by other means.
    """
    if request.method != "POST" or dialect_of_path(request.url.path) is None:
        return False
    if watched.get() is None:
        run.missed += 1
    return True


def _note_unread(run: Run, path: str, why: str, meta: JsonObject) -> None:
    facts: JsonObject = {"message": "a model call was not recorded", "unparsed": f"its body cannot be read ({why})"}
    run.append("log", {**facts, "path": path}, meta=meta)


def _facts(dialect: Dialect, url: Any) -> JsonObject:
    # `netloc` holds no user and password; the query may hold a key.
    prefix = url.path.rpartition(dialect.path)[0]
    endpoint = f"{url.scheme}://{url.netloc.decode('ascii')}{prefix}"
    return {"provider": PROVIDERS.get(dialect.api, "openai"), "api": dialect.api, "endpoint": endpoint}


class Call:
    """One model call whose request is written: the attempts that the SDK makes for it, and its one reply."""

    def __init__(self, run: Run, dialect: Dialect, request: int, content: bytes, *, retries: bool) -> None:
        self.run = run
        self.content = content
        """The body as sent: an attempt with the same one is a further attempt of this call."""
        self._dialect = dialect
        self._request = request
        self._retries = retries
        """True when the SDK tells its attempts apart, so that a failed one may be followed by another."""
        self._attempts = 0
        self._attempt: Attempt | None = None
        self._failed: tuple[Received, float] | None = None
        run.unfinished.add(self)

    def again(self) -> Attempt:
        """The attempt that is about to be made."""
        self._failed = None
        self._attempts += 1
        self._attempt = Attempt(self._settle, self.run.guard, self.run.later)
        return self._attempt

    def give_up(self) -> None:
        """No further attempt was made: the last failure is the reply."""
        if self._failed is not None:
            self._finish(*self._failed)

    def cut(self) -> None:
        """The recording ends."""
        self.give_up()
        if self._attempt is not None:
            self._attempt.ended("run closed")
        self.give_up()

    def _settle(self, received: Received, seconds: float) -> None:
        if not (self._retries and _may_be_retried(received)):
            self._finish(received, seconds)
            return
        # Whether the SDK tries again shows only when it does, or when the program does something else. What is known by
        # now is kept by a log event: the program may end before.
        told = response_event(self._dialect, received)
        facts: JsonObject = {"message": "attempt failed", "attempt": self._attempts, "error": told.payload.get("error")}
        self.run.append("log", facts, meta=told.meta, parent=self._request)
        self._failed = (received, seconds)
        held.set(self)

    def _finish(self, received: Received, seconds: float) -> None:
        self._failed = None
        self.run.unfinished.discard(self)
        found = response_event(self._dialect, received)
        meta: JsonObject = {"latency_ms": round(seconds * 1000, 2), **found.meta}
        if self._attempts > 1:
            meta["attempts"] = self._attempts
        number = self.run.append("llm_response", found.payload, meta=meta, parent=self._request, stream=found.stream)
        self.run.asked.add(number, found.tool_calls)


def _may_be_retried(received: Received) -> bool:
    if received.status is not None and received.status < ERROR_STATUS:
        return False
    if received.should_retry is not None:
        return received.should_retry
    if received.status is not None:
        return received.status in RETRIED or received.status >= SERVER_ERROR
    return received.ending == "failed" and library(received.error) is not None
