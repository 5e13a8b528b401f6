"""Codex CLI rollouts: the JSON Lines that it keeps per session.

Lines are `{timestamp, type, payload}` since 0.40.0, of which the `response_item`s are the items of the Responses API as
they were sent; older files hold the items bare, behind a heading.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ...wire.bodies import objects
from ...wire.reading import members, text_or_none
from ...wire.values import Json, JsonObject
from ..conversation import Setting
from ..each_file import each_file
from ..imported import ImportedEvent, ImportedNote, ImportedRun, Skipped
from ..items import Item, is_output, item_events
from ..json_stream import Record
from ..moments import seconds
from ..registry import Format
from ..source import Sample

_WRAPPED: Final = ("session_meta", "turn_context", "response_item", "event_msg", "compacted")
_ITEMS: Final = ("message", "reasoning")
_SHOWN: Final = "what `codex exec --json` prints is what is shown, not what was sent: import the rollout of the session"


def recognise(sample: Sample) -> str | None:
    """Why the values look like this format; None when they do not."""
    for value in sample.values:
        line = members(value)
        if line.get("type") in _WRAPPED and isinstance(line.get("payload"), dict):
            return f"lines with `type` {line['type']} and `payload`"
        if line.get("type") == "thread.started" and "thread_id" in line:
            return "a first line of type thread.started, as `codex exec --json` prints"
        if isinstance(line.get("items"), list) and "instructions" in members(line.get("session")):
            return "`session` and `items` in one object, as the first versions wrote"
        if {"id", "timestamp", "instructions"} <= line.keys() or line.get("record_type") == "state":
            return "a heading with `id`, `timestamp` and `instructions`, or lines of `record_type` state"
    return None


def runs(records: Iterator[Record], name: str) -> Iterator[ImportedRun | Skipped]:
    """One run per session."""
    session = _Session()
    for record in records:
        line = members(record.value)
        if line.get("type") == "thread.started":
            yield Skipped(record.place, _SHOWN)
            return
        if isinstance(line.get("session"), dict):
            line = {"instructions": None, **members(line["session"])}
        if line.get("type") == "session_meta" and session.items:
            yield from session.run(name)
            session = _Session()
        reason = session.take(record.place, line)
        if reason is not None:
            yield Skipped(record.place, reason, notable=reason not in _BY_NATURE)
    yield from session.run(name)


_BY_NATURE: Final = (
    "a copy for the display",
    "what the session is",
    "the settings of a turn",
    "a state of the session",
)


@dataclass(slots=True)
class _Session:
    items: list[Item] = field(default_factory=list[Item])
    counted: bool = False
    """Whether a count of tokens, which ends every call, stands behind the last item that the model brought."""
    counts: bool = False
    """Whether the file holds such counts at all."""
    tags: JsonObject = field(default_factory=dict[str, "Json"])
    system: str | None = None
    setting: JsonObject = field(default_factory=dict[str, "Json"])
    events: list[ImportedEvent] = field(default_factory=list[ImportedEvent])
    told: int = 0
    """Of `items`, how many are the history that earlier events were made from."""
    started: float | None = None

    def take(self, place: str, line: JsonObject) -> str | None:
        """One line; the reason why it is no item."""
        at = seconds(line.get("timestamp"))
        self.started = at if self.started is None else self.started
        payload = line.get("payload")
        kind = line.get("type")
        if kind == "response_item" and isinstance(payload, dict):
            return self._item(place, payload, at)
        if kind == "event_msg":
            if members(payload).get("type") == "token_count" and members(members(payload).get("info")):
                self.counted = self.counts = True
            return "a copy for the display"
        if kind == "session_meta":
            self._about(members(payload))
            return "what the session is"
        if kind == "turn_context":
            self._turn(members(payload))
            return "the settings of a turn"
        if kind == "compacted":
            self._compacted(place, members(payload), at)
            return None
        if line.get("record_type") == "state":
            return "a state of the session"
        if "instructions" in line and "type" not in line:
            self._about(line)
            return "what the session is"
        if is_output(line) or "role" in line or str(kind).endswith(("_output", "_call")) or kind in _ITEMS:
            return self._item(place, line, at)
        return f"a line of type {kind!r}, which is not known"

    def run(self, name: str) -> Iterator[ImportedRun | Skipped]:
        self._flush()
        if not self.events:
            yield Skipped(name, "a session without a reply of the model")
            return
        yield ImportedRun(name, tuple(self.events), self.started, self.tags)

    def _item(self, place: str, item: JsonObject, at: float | None) -> str | None:
        if item.get("type") == "ghost_snapshot":
            return "a snapshot of files, which is not sent"
        output = is_output(item)
        # Results of parallel calls may be written between them; a count of tokens tells that the call had ended.
        self.items.append(Item(place, item, at, closes=self.counted or not self.counts or not output))
        if output:
            self.counted = False
        return None

    def _about(self, meta: JsonObject) -> None:
        self.tags |= {key: meta[key] for key in ("id", "cwd", "cli_version", "originator", "git") if key in meta}
        self.system = text_or_none(members(meta.get("base_instructions")).get("text"))

    def _turn(self, context: JsonObject) -> None:
        if context.get("model") != self.setting.get("model") and self.items:
            self._flush()
        self.setting = context

    def _compacted(self, place: str, payload: JsonObject, at: float | None) -> None:
        self._flush()
        history = [item for _, item in objects(payload.get("replacement_history"))]
        summary = text_or_none(payload.get("message"))
        kept: list[Json] = [*history]
        if not history and summary:
            kept = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": summary}]}]
        self.items = [Item(place, members(item), at) for item in kept]
        self.told = len(self.items)
        note = "the conversation was compacted: from here on the model saw a summary of it"
        self.events.append(ImportedNote(place, note, {"message": summary}, at))
        if not history:
            self.setting = {**self.setting, "compacted": True}

    def _flush(self) -> None:
        """The events of the items so far; the items stay the history of what follows."""
        old = {id(item.value) for item in self.items[: self.told]}
        for event in item_events(self.items, self._described()):
            if not self._is_old(event, old):
                self.events.append(event)
        self.told = len(self.items)

    def _is_old(self, event: ImportedEvent, old: set[int]) -> bool:
        places = {item.place for item in self.items if id(item.value) in old}
        return event.place.partition(" to ")[0] in places

    def _described(self) -> Setting:
        params: JsonObject = {}
        reasoning = {
            key: self.setting[name]
            for key, name in (("effort", "effort"), ("summary", "summary"))
            if self.setting.get(name) is not None
        }
        if reasoning:
            params["reasoning"] = reasoning
        missing = ["tools", "params"] if self.system else ["system", "tools", "params"]
        if self.system:
            params["instructions"] = self.system
        if self.setting.get("compacted"):
            missing.append("the history as it was compacted")
        sealed = any(item.value.get("encrypted_content") for item in self.items)
        why = "its reasoning is sealed for the account that it was made with, and expires" if sealed else None
        return Setting(
            "responses", "openai", None, text_or_none(self.setting.get("model")), None, params, (*missing,), why
        )


FORMAT: Final = Format(
    "codex",
    "Codex rollouts",
    "lines with `type` and `payload`, session_meta first",
    recognise,
    each_file(runs, ("items",)),
)
