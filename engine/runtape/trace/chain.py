"""Requests that leave their beginning to the provider, put together again from the recorded run.

A call of OpenAI's Responses API may name the response before it (`previous_response_id`) instead of sending what led to
it. The provider then puts that response's input and output in front of the new input; its `instructions` it does not
take over (https://platform.openai.com/docs/api-reference/responses/create). The same is done here from the trace, so
that the whole context is there to be examined, and the rerun depends on nothing that the provider has kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..errors import BrokenRequest
from ..text import visible
from ..wire.values import Json, JsonObject, Request
from .calls import Call
from .origins import Known, Origin, origins
from .refs import Moment
from .trace import Trace

RECORD_ALL = "Record the run from its first call on, or let the agent send its whole input each time."


@dataclass(frozen=True, slots=True)
class Whole:
    """A request with all that the model saw."""

    request: Request
    origins: tuple[Origin, ...]
    """As `origins` gives them, for this request."""
    earlier: int
    """Recorded calls that it was put together from; 0 when it was whole."""


def whole(trace: Trace, moment: Moment, known: Known | None = None) -> Whole:
    """The request of a decision, with what its provider had kept in place of the name for it.

    Whoever asks for many decisions of a run makes what is `known` of it once.

    Raises:
        BrokenRequest: a part of it is in no recorded call.
    """
    request = trace.request(moment.request)
    if request.api != "responses":
        return Whole(request, origins(trace, moment, known), 0)
    return _Chain(trace, known or Known(trace)).whole(request, moment)


class _Chain:
    """The Responses calls of one run, by the id of what they brought."""

    def __init__(self, trace: Trace, known: Known) -> None:
        self._trace = trace
        self._known = known
        self._calls: dict[str, Call] = {}
        self._items: dict[str, Json] = {}
        for call in trace.calls:
            raw = _raw(call)
            response_id = raw.get("id")
            if isinstance(response_id, str):
                self._calls[response_id] = call
            for item in _listed(raw.get("output")):
                item_id = item.get("id") if isinstance(item, dict) else None
                if isinstance(item_id, str):
                    self._items[item_id] = item

    def whole(self, request: Request, moment: Moment) -> Whole:
        if request.body.get("conversation") is not None:
            raise BrokenRequest(
                "this call goes on with a conversation that the provider keeps, and the trace does not hold what is in "
                f"it. {RECORD_ALL}"
            )
        own = origins(self._trace, moment, self._known)
        before = list(self._before(request.body))
        given = _as_items(request.body.get("input"))
        if not before and not any(map(_named, given)):
            return Whole(request, own, 0)
        messages: list[Json] = []
        found = [origin for origin in own if origin.index < 0]
        for call in reversed(before):
            earlier = Moment(call.request, call.response or call.request, None, None)
            body = self._trace.request(call.request).body
            found += _moved(origins(self._trace, earlier, self._known), len(messages))
            messages += self._resolved(_as_items(body.get("input")))
            output = self._output(call, body)
            event = earlier.response.id
            found += [Origin(event, len(messages) + at, writer=event) for at in range(len(output))]
            messages += output
        found += _moved(own, len(messages))
        messages += self._resolved(given)
        body = {key: value for key, value in request.body.items() if key != "previous_response_id"}
        return Whole(replace(request, body={**body, "input": messages}), tuple(found), len(before))

    def _before(self, body: JsonObject) -> Iterator[Call]:
        """The calls that a request goes on from, latest first."""
        seen: set[str] = set()
        while (previous := body.get("previous_response_id")) is not None:
            call = self._calls.get(previous) if isinstance(previous, str) else None
            if call is None or previous in seen:
                raise BrokenRequest(
                    f"this call goes on from the response {visible(str(previous))!r}, which is not in the trace, so "
                    f"what the model saw is not known. {RECORD_ALL}"
                )
            seen.add(str(previous))
            yield call
            body = self._trace.request(call.request).body
            if body.get("conversation") is not None:
                raise BrokenRequest(
                    f"the call of event {call.request.id} that this one goes on from is part of a conversation that "
                    f"the provider keeps. {RECORD_ALL}"
                )

    def _output(self, call: Call, body: JsonObject) -> list[Json]:
        output = _listed(_raw(call).get("output"))
        kept = body.get("store") is not False
        for item in output:
            sealed = isinstance(item, dict) and item.get("type") == "reasoning" and not item.get("encrypted_content")
            if sealed and not kept:
                raise BrokenRequest(
                    f"the call of event {call.request.id} that this one goes on from was not stored (store=false), and "
                    "its reasoning was recorded without its content. Let the agent ask for it: "
                    'include=["reasoning.encrypted_content"].'
                )
        return output

    def _resolved(self, items: list[Json]) -> list[Json]:
        """The items, with those that are only named in full where the trace has them."""
        return [self._items.get(_named(item) or "", item) for item in items]


def _named(item: Json) -> str | None:
    """The id of an item that is only named."""
    if not isinstance(item, dict) or item.get("type") != "item_reference":
        return None
    item_id = item.get("id")
    return item_id if isinstance(item_id, str) else None


def _as_items(given: Json) -> list[Json]:
    return [{"role": "user", "content": given}] if isinstance(given, str) else _listed(given)


def _moved(found: tuple[Origin, ...], by: int) -> list[Origin]:
    return [replace(origin, index=origin.index + by) for origin in found if origin.index >= 0]


def _raw(call: Call) -> JsonObject:
    raw = call.response.payload.get("raw") if call.response is not None else None
    return raw if isinstance(raw, dict) else {}


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
