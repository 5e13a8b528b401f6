"""One run of a tool: its `tool_call` event, then its `tool_result`."""

from __future__ import annotations

import time
from typing import Any

from ..jsonable import jsonable
from ..wire.values import Json, JsonObject
from .failure import failure
from .run import Run

ITEMS = 1000
"""Items kept of a generator; the rest is counted."""


class ToolRun:
    """Records the call when made, and the result when told of it. None of the methods raises."""

    __slots__ = ("_call", "_count", "_items", "_name", "_run", "_started")

    def __init__(self, run: Run, name: str, arguments: dict[str, Any], call_id: str | None = None) -> None:
        """`call_id` is the id of the call that asked for this run, where it is known."""
        self._run = run
        self._name = name
        self._items: list[Json] = []
        self._count = 0
        kept = jsonable(arguments)
        wanted = run.asked.claim(name, kept, call_id)
        payload: JsonObject = {"name": name, "arguments": kept}
        meta: JsonObject = {}
        if wanted is not None:
            meta["requested_by"] = wanted.reply
            if wanted.call_id is not None:
                payload["call_id"] = wanted.call_id
        self._call = run.append("tool_call", payload, meta=meta)
        self._started = time.perf_counter()

    def returned(self, value: object) -> None:
        """The tool gave `value` back."""
        with self._run.guard:
            self._result({"result": jsonable(value)})

    def raised(self, error: BaseException) -> None:
        """The tool ended with an exception; a cancellation is one."""
        with self._run.guard:
            self._result({**self._so_far(), "error": failure(error)})

    def item(self, value: object) -> None:
        """The tool's generator gave its next item to the caller."""
        with self._run.guard:
            self._count += 1
            if self._count <= ITEMS:
                self._items.append(jsonable(value))

    def exhausted(self, value: object) -> None:
        """The tool's generator came to its end; `value` is what it returned."""
        with self._run.guard:
            returned: JsonObject = {} if value is None else {"returned": jsonable(value)}
            self._result({"result": list(self._items), **returned})

    def closed(self) -> None:
        """The caller stopped reading the tool's generator before its end."""
        with self._run.guard:
            self._result({"result": list(self._items)}, closed=True)

    def _so_far(self) -> JsonObject:
        return {"result": list(self._items)} if self._count else {}

    def _result(self, outcome: JsonObject, *, closed: bool = False) -> None:
        meta: JsonObject = {"latency_ms": round((time.perf_counter() - self._started) * 1000, 2)}
        if self._count > ITEMS:
            meta["items"] = self._count
        if closed:
            meta["closed_early"] = True
        self._run.append("tool_result", {"name": self._name, **outcome}, meta=meta, parent=self._call)
