"""Callbacks by which LangChain reports model calls and tool runs that do not pass the HTTP seam."""

from __future__ import annotations

import importlib
import time
from collections.abc import Mapping, Sequence
from typing import Any, cast
from uuid import UUID

from ..jsonable import jsonable
from ..wire.values import Json, JsonObject, Parts
from . import by_hand
from .failure import failure
from .run import Run
from .tool_run import ToolRun
from .watched import Watched, watched

API = "chat.completions"
"""The shape in which the messages are recorded: LangChain's own way to write messages down is OpenAI's."""

_NOT_PARAMETERS = frozenset({"_type", "model", "model_name", "messages", "tools", "stream"})


def handler(run: Run | None) -> Any:
    """A callback handler for LangChain that records into `run`; one that does nothing where recording is off.

    A model call that the HTTP seam has recorded is not recorded twice, nor is a tool that is decorated as well.

    Raises:
        ImportError: LangChain is not installed.
    """
    base = importlib.import_module("langchain_core.callbacks").BaseCallbackHandler
    return base() if run is None else type("RuntapeHandler", (_Handler, base), {})(run)


class _Handler:
    """What LangChain calls; see its `BaseCallbackHandler`. None of these raises."""

    run_inline = True
    """In the task that makes the call: elsewhere nobody could tell what the HTTP seam has recorded of it."""
    ignore_chain = True
    ignore_retriever = True
    ignore_retry = True
    ignore_custom_event = True

    def __init__(self, run: Run) -> None:
        self._run = run
        self._calls: dict[UUID, _Call] = {}
        self._tools: dict[UUID, tuple[ToolRun, Watched]] = {}

    def __copy__(self) -> _Handler:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> _Handler:
        return self

    def on_chat_model_start(
        self, serialized: Any, messages: Sequence[Sequence[Any]], *, run_id: UUID, metadata: Any = None, **more: Any
    ) -> None:
        with self._run.guard:
            self._begin(run_id, [_chat(batch) for batch in messages], serialized, metadata, more)

    def on_llm_start(
        self, serialized: Any, prompts: Sequence[str], *, run_id: UUID, metadata: Any = None, **more: Any
    ) -> None:
        with self._run.guard:
            said: list[list[Json]] = [[{"role": "user", "content": prompt}] for prompt in prompts]
            self._begin(run_id, said, serialized, metadata, more)

    def on_llm_end(self, response: Any, *, run_id: UUID, **_: Any) -> None:
        with self._run.guard:
            call = self._calls.pop(run_id, None)
            if call is not None:
                call.answered(list(response.generations))

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        with self._run.guard:
            call = self._calls.pop(run_id, None)
            if call is not None:
                call.failed(failure(error, frames=False))

    def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: UUID,
        inputs: Any = None,
        tool_call_id: Any = None,
        **more: Any,
    ) -> None:
        with self._run.guard:
            name = _text(more.get("name")) or _text(_member(serialized, "name")) or "tool"
            arguments = _object(inputs) or {"input": input_str}
            watch = Watched(name)
            self._tools[run_id] = ToolRun(self._run, name, arguments, _text(tool_call_id)), watch
            watched.set(watch)

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        with self._run.guard:
            tool_run = self._ended(run_id)
            if tool_run is not None:
                tool_run.returned(getattr(output, "content", output))

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        with self._run.guard:
            tool_run = self._ended(run_id)
            if tool_run is not None:
                tool_run.raised(error)

    def _begin(
        self, run_id: UUID, batches: list[list[Json]], serialized: Any, metadata: Any, more: Mapping[str, Any]
    ) -> None:
        asked = _object(_member(more, "invocation_params"))
        model = _member(metadata, "ls_model_name") or _member(asked, "model") or _member(asked, "model_name")
        provider = _text(_member(metadata, "ls_provider")) or _text(_member(serialized, "name")) or "langchain"
        params = {
            key: value for key, value in asked.items() if key not in _NOT_PARAMETERS and value not in (None, [], {})
        }
        watch = Watched()
        watched.set(watch)
        tools = _member(asked, "tools")
        requests = [by_hand.request_parts(_text(model), messages, None, tools, params) for messages in batches]
        call = _Call(self._run, watch, provider, requests)
        self._calls[run_id] = call
        self._run.unfinished.add(call)

    def _ended(self, run_id: UUID) -> ToolRun | None:
        tool_run, watch = self._tools.pop(run_id, (None, None))
        if watch is not None:
            watch.tool = None
        return tool_run


class _Call:
    """One model call (or a batch of them) until its end: only then is it known whether the HTTP seam had it."""

    def __init__(self, run: Run, watch: Watched, provider: str, requests: list[Parts]) -> None:
        self.run = run
        self._watch = watch
        self._facts = by_hand.facts(provider, API, None)
        self._requests = requests
        self._started = time.perf_counter()

    def give_up(self) -> None:
        """LangChain tells the end itself."""

    def cut(self) -> None:
        """The recording ends before the call does."""
        self.failed({"type": "run closed", "message": "the recording ended before the reply came"})

    def answered(self, generations: list[Any]) -> None:
        """Write the call with its replies."""
        for at, parts in enumerate(self._requests):
            found = list(generations[at]) if at < len(generations) else []
            self._write(parts, *_reply(found))
        self.run.unfinished.discard(self)

    def failed(self, error: JsonObject) -> None:
        """Write the call with what went wrong in place of a reply."""
        for parts in self._requests:
            self._write(parts, {"text": None, "tool_calls": [], "stop_reason": None, "raw": None, "error": error}, {})
        self.run.unfinished.discard(self)

    def _write(self, parts: Parts, payload: JsonObject, meta: JsonObject) -> None:
        if self._watch.model_calls:
            return
        request = self.run.request(self._facts, parts)
        latency = round((time.perf_counter() - self._started) * 1000, 2)
        number = self.run.append("llm_response", payload, meta={"latency_ms": latency, **meta}, parent=request)
        self.run.asked.add(number, by_hand.wanted(payload))


def _chat(messages: Sequence[Any]) -> list[Json]:
    """The messages as OpenAI's API has them; as LangChain keeps them where it cannot say."""
    convert = importlib.import_module("langchain_core.messages").convert_to_openai_messages
    try:
        found = jsonable(convert(list(messages)))
    except Exception:  # noqa: BLE001 -- a message of a kind that the API does not have
        found = jsonable(list(messages))
    return found if isinstance(found, list) else [found]


def _reply(generations: list[Any]) -> tuple[JsonObject, JsonObject]:
    """Payload and meta of an `llm_response`: the first of the generations."""
    first = generations[0] if generations else None
    message = getattr(first, "message", None)
    calls = [
        {"id": _member(call, "id"), "name": _member(call, "name"), "arguments": _member(call, "args")}
        for kind in ("tool_calls", "invalid_tool_calls")
        for call in getattr(message, kind, None) or ()
    ]
    facts = {**_object(getattr(first, "generation_info", None)), **_object(getattr(message, "response_metadata", None))}
    reason = facts.get("finish_reason") or facts.get("stop_reason") or facts.get("done_reason")
    payload = by_hand.reply(getattr(first, "text", None) or None, calls, reason, None)
    usage = getattr(message, "usage_metadata", None)
    tokens: JsonObject = {
        name: count
        for name, key in (("input", "input_tokens"), ("output", "output_tokens"))
        if isinstance(count := _member(usage, key), int)
    }
    meta: JsonObject = {"tokens": tokens} if tokens else {}
    served = _text(facts.get("model_name") or facts.get("model"))
    if served is not None:
        meta["model"] = served
    if len(generations) > 1:
        meta["choices"] = len(generations)
    return payload, meta


def _object(value: Any) -> dict[str, Any]:
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else {}


def _member(value: Any, key: str) -> Any:
    return _object(value).get(key)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
