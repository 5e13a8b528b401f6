"""Which recorded reply wrote a message, or asked for the call that a tool's result answers."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict

from .. import canon
from ..errors import NotADecision
from ..wire.values import Json, Slot
from .trace import Trace


class Writers:
    """The replies of one run, found again by what they said and which calls they asked for."""

    def __init__(self, trace: Trace) -> None:
        self._texts: defaultdict[str, list[int]] = defaultdict(list)
        self._ids: defaultdict[tuple[str, str | None], list[int]] = defaultdict(list)
        self._calls: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self._names: defaultdict[str, list[int]] = defaultdict(list)
        for call in trace.calls:
            if call.response is None:
                continue
            try:
                reply = trace.reply(call.response)
            except NotADecision:
                continue
            number = call.response.id
            for said in (reply.text, reply.refusal):
                if said and said.strip():
                    self._texts[said.strip()].append(number)
            for asked in reply.tool_calls:
                self._names[asked.name].append(number)
                self._calls[asked.name, _same(asked.text, asked.arguments)].append(number)
                if asked.id:
                    self._ids[asked.id, asked.name].append(number)
                    self._ids[asked.id, None].append(number)
        for index in (self._texts, self._ids, self._calls, self._names):
            for numbers in index.values():
                numbers.sort()

    def of_message(self, slots: list[Slot], before: int) -> int | None:
        """The `llm_response` that wrote a message of the agent, given its texts and arguments; None when none did.

        Of several replies that said the same, the last one before the event `before`, which is the first request that
        held the message.
        """
        calls = [slot for slot in slots if slot.kind == "tool_arguments" and slot.tool is not None]
        for slot in calls:
            number = _last(self._ids.get((slot.call_id or "", slot.tool or "")), before)
            if number is not None:
                return number
        said = [slot.text.strip() for slot in slots if slot.kind == "assistant" and slot.form == "text"]
        for text in dict.fromkeys(("".join(said), *sorted(said, key=len, reverse=True))):
            number = _last(self._texts.get(text), before) if text else None
            if number is not None:
                return number
        for slot in calls:
            number = _last(self._calls.get((slot.tool or "", _same(slot.text, _parsed(slot.text)))), before)
            if number is not None:
                return number
        return None

    def of_call(self, call_id: str | None, tool: str | None, before: int) -> int | None:
        """The last `llm_response` before an event that asked for a call, by its id, else by the tool's name."""
        if call_id:
            by_id = _last(self._ids.get((call_id, tool)), before)
            if by_id is not None:
                return by_id
        return _last(self._names.get(tool), before) if tool is not None else None


def _last(numbers: list[int] | None, before: int) -> int | None:
    if not numbers:
        return None
    at = bisect_left(numbers, before)
    return numbers[at - 1] if at else None


def _same(text: str, arguments: Json) -> str:
    """One spelling for arguments that differ in white space and the order of keys only."""
    return text.strip() if arguments is None else canon.digest(arguments)


def _parsed(text: str) -> Json:
    try:
        return canon.loads(text)
    except ValueError:
        return None
