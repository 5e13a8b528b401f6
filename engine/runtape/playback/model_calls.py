"""The recorded model calls that the agent has not made again yet."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass
from typing import Final

from ..canon import digest
from ..errors import BadInput
from ..trace.events import Event
from ..trace.redact import redact
from ..trace.trace import Trace
from ..wire.values import JsonObject
from .divergence import SHOWN, Divergence, differences


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One model call of the record."""

    event: int
    """Its `llm_request`."""
    api: str
    body: JsonObject
    reply: Event | None


class ModelCalls:
    """Gives each request its recorded call: an equal one, the earliest that is left. Usable from any thread.

    Requests are compared as they would be recorded, known secrets taken out. Equal requests are answered in the order
    in which they were recorded, whatever order parallel ones come in.
    """

    def __init__(self, trace: Trace) -> None:
        self._left: list[tuple[str, RecordedCall]] = []
        self._unusable: list[str] = []
        for call in trace.calls:
            try:
                request = trace.request(call.request)
            except BadInput as error:  # a broken one must not keep the others from being played
                self._unusable.append(f"event {call.request.id}: {error}")
                continue
            known = RecordedCall(call.request.id, request.api, request.body, call.response)
            self._left.append((_fingerprint(request.api, request.body), known))
        self._recorded: Final = Counter(call.api for _, call in self._left)
        self._made = 0
        self._failing: dict[str, RecordedCall] = {}
        self._lock = threading.Lock()

    @property
    def left(self) -> list[int]:
        """Events of the recorded calls that were not made again, in order."""
        with self._lock:
            return [call.event for _, call in self._left]

    def take(self, api: str, body: JsonObject, *, again: bool) -> RecordedCall | Divergence:
        """The recorded call of a request; how it differs from the nearest one where there is none.

        `again`: the SDK says that this is a further attempt of a call, which gets what the first one got.
        """
        print_ = _fingerprint(api, body)
        with self._lock:
            if again and print_ in self._failing:
                return self._failing[print_]
            self._made += 1
            for at, (known, call) in enumerate(self._left):
                if known == print_:
                    del self._left[at]
                    self._failing[print_] = call
                    return call
            return self._divergence(api, body)

    def _divergence(self, api: str, body: JsonObject) -> Divergence:
        step = f"model call {self._made}"
        alike = [call for _, call in self._left if call.api == api]
        if not alike:
            notes = f" Requests that cannot be read: {'; '.join(self._unusable)}." if self._unusable else ""
            return Divergence(step, f"{self._none_left(api)}{notes}")
        now = redact(body)
        found = [(differences(call.body, now), call) for call in alike]
        different, nearest = min(found, key=lambda entry: len(entry[0]))  # the earliest of those equally near
        reason = "no recorded call that is left has this request."
        return Divergence(step, reason, nearest.event, tuple(different[:SHOWN]), len(different[SHOWN:]))

    def _none_left(self, api: str) -> str:
        if recorded := self._recorded[api]:
            again = "the recorded model call has" if recorded == 1 else f"all {recorded} recorded model calls have"
            return f"{again} been made again." if len(self._recorded) == 1 else f"{again} been made again to `{api}`."
        held = ", ".join(f"{_calls(count)} to `{known}`" for known, count in self._recorded.items())
        return f"the record holds {held or 'no model call'}; this one is to `{api}`. Is it the record of this script?"


def _calls(count: int) -> str:
    return "1 call" if count == 1 else f"{count} calls"


def _fingerprint(api: str, body: JsonObject) -> str:
    return digest([api, redact(body)])
