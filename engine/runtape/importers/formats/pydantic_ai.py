"""pydantic-ai message histories, as `all_messages_json()` gives them.

A request is put together in the shape of the API that `provider_name` and the id of the reply tell of: chat
completions, Responses or Anthropic's messages. Seen with pydantic-ai 2.68.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from ...wire.reading import members, text_or_none
from ...wire.values import Json, JsonObject
from ..conversation import Setting, Turn, conversation
from ..each_file import each_file, lists
from ..imported import ImportedCall, ImportedEvent, ImportedRun, Skipped
from ..json_stream import Record
from ..moments import seconds
from ..pydantic_parts import request_messages, response_message
from ..registry import Format
from ..source import Sample

_MISSING: Final = ("tools", "params")


def recognise(sample: Sample) -> str | None:
    """Why a file looks like this format; None when it does not."""
    for value in sample.values:
        told = members(value)
        if told.get("kind") in ("request", "response") and isinstance(told.get("parts"), list):
            return "messages of `kind` request and response with `parts`"
    return None


def runs(records: Iterator[Record], name: str) -> Iterator[ImportedRun | Skipped]:
    """One run per history."""
    for number, history in enumerate(lists(records), 1):
        heard = _History()
        for record in history:
            reason = heard.take(record)
            if reason is not None:
                yield Skipped(record.place, reason)
        label = name if number == 1 else f"{name} {number}"
        if heard.events:
            yield ImportedRun(label, heard.events, heard.started, heard.tags)
        else:
            yield Skipped(label, "a history without a reply of the model")


@dataclass(slots=True)
class _History:
    turns: list[Turn] = field(default_factory=list[Turn])
    instructions: str | None = None
    """Of the latest request."""
    events: list[ImportedEvent] = field(default_factory=list[ImportedEvent])
    started: float | None = None
    tags: JsonObject = field(default_factory=dict[str, "Json"])
    _told: int = 0
    """How many events the turns so far gave."""

    def take(self, record: Record) -> str | None:
        message = members(record.value)
        at = seconds(message.get("timestamp"))
        self.started = at if self.started is None else self.started
        for key in ("run_id", "conversation_id"):
            if message.get(key) is not None:
                self.tags.setdefault(key, message[key])
        if message.get("kind") == "request":
            self.instructions = text_or_none(message.get("instructions"))
            for index, said in enumerate(request_messages(message)):
                place = f"{record.place}, part {index + 1}"
                self.turns.append(
                    Turn(place, said.message, error=said.error, tool=said.tool, started=at, loses=said.loses)
                )
                self._tell(_setting({}, None))
            return None
        if message.get("kind") == "response":
            said = response_message(message)
            self.turns.append(Turn(record.place, said.message, finish=_finish(message), started=at, loses=said.loses))
            self._tell(_setting(message, self.instructions))
            return None
        return "no request and no response"

    def _tell(self, setting: Setting) -> None:
        """The event of the last turn, if it is one."""
        turns = self.turns
        last = turns[-1]
        if last.message["role"] == "assistant":
            before = _with_instructions(turns[:-1], self.instructions, setting.api)
            silent = [_silent(turn, setting.api) for turn in before]
            self.events += [e for e in conversation([*silent, last], setting) if isinstance(e, ImportedCall)]
        elif last.message["role"] == "tool":
            since = max((at for at, turn in enumerate(turns) if turn.message["role"] == "assistant"), default=0)
            answers = [_silent(turn, setting.api) for turn in turns[since:]]
            self.events += conversation(answers, setting)[-1:]


def _silent(turn: Turn, api: str) -> Turn:
    """A turn of the past; Anthropic's own blocks carry the reasoning that other APIs have no place for."""
    kept = api == "messages" and "thinking_blocks" in turn.message
    loses = tuple(part for part in turn.loses if not (kept and part == "reasoning"))
    return replace(turn, by_model=False, loses=loses)


def _with_instructions(turns: list[Turn], instructions: str | None, api: str) -> list[Turn]:
    """The turns with the instructions behind the system prompts at their head, where they are sent as a message."""
    if instructions is None or api == "responses":
        return turns
    head = next((at for at, turn in enumerate(turns) if turn.message["role"] != "system"), len(turns))
    return [*turns[:head], Turn("instructions", {"role": "system", "content": instructions}), *turns[head:]]


def _setting(response: JsonObject, instructions: str | None) -> Setting:
    provider = text_or_none(response.get("provider_name")) or "openai"
    id_ = text_or_none(response.get("provider_response_id")) or ""
    api = "responses" if id_.startswith("resp_") else "messages" if provider == "anthropic" else "chat.completions"
    params: JsonObject = {"instructions": instructions} if api == "responses" and instructions is not None else {}
    url = text_or_none(response.get("provider_url"))
    return Setting(
        api=api,
        provider=provider,
        endpoint=None if url is None else url.rstrip("/"),
        model=text_or_none(response.get("model_name")),
        params=params,
        missing=_MISSING,
    )


def _finish(response: JsonObject) -> str | None:
    """The provider's own word, where it is kept."""
    own = members(response.get("provider_details")).get("finish_reason")
    return text_or_none(own) or text_or_none(response.get("finish_reason"))


FORMAT: Final = Format(
    "pydantic-ai", "pydantic-ai histories", "messages of `kind` request and response", recognise, each_file(runs)
)
